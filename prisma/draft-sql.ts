import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";

type EngineModule = {
  SchemaEngine: {
    new: (
      options: object,
      log: () => void,
      adapter: object,
    ) => Promise<{ diff(input: object): Promise<{ stdout: string | null }> }>;
  };
  __wbg_set_wasm(exports: WebAssembly.Exports): void;
};

/**
 * The SQL that would create `schema.prisma` from nothing: the draft of a migration, and one side of the drift test.
 * Uses Prisma's engine as WebAssembly, for development only: its native engine is a download (decision 0004).
 */
export async function draftSql(connectionString: string): Promise<string> {
  const { PrismaPg } = await import("@prisma/adapter-pg");
  const engine = await loadEngine();
  const schema = await readFile(new URL("./schema.prisma", import.meta.url), "utf8");
  const files = [{ path: "schema.prisma", content: schema }];
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString }));
  const schemaEngine = await engine.SchemaEngine.new(
    { datamodels: files.map((f) => [f.path, f.content]) },
    () => {},
    adapter,
  );
  const result = await schemaEngine.diff({
    from: { tag: "empty" },
    to: { tag: "schemaDatamodel", files },
    script: true,
    shadowDatabaseUrl: null,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  return result.stdout ?? "";
}

async function loadEngine(): Promise<EngineModule> {
  const require = createRequire(import.meta.url);
  const base = require.resolve("@prisma/schema-engine-wasm").replace(/\.js$/, "_bg");
  const glue = (await import(`${base}.js`)) as EngineModule & WebAssembly.ModuleImports;
  const { instance } = await WebAssembly.instantiate(await readFile(`${base}.wasm`), { "./schema_engine_bg.js": glue });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as (() => void) | undefined)?.();
  return glue;
}
