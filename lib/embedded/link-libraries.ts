import { lstat, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { z } from "zod";
import { hasCode } from "./error-code";

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Makes the library links that npm packages cannot carry, as `native/pg-symlinks.json` lists them; those that are there
 * stay. The package's own install script does the same, where install scripts run. Returns `true`; rejects with the
 * system's error (`EACCES`, `EROFS`…) when the folder cannot be written.
 */
export async function linkLibraries(nativeFolder: string): Promise<true> {
  const list = await readFile(join(nativeFolder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const packageFolder = dirname(nativeFolder);
  for (const { source, target } of linksSchema.parse(JSON.parse(list))) {
    const path = resolve(packageFolder, target);
    if (!path.startsWith(nativeFolder + sep)) throw new Error(`The library link ${target} leads out of its package.`);
    if (await lstat(path).catch(() => undefined)) continue;
    // Every link of the list points into its own folder.
    await symlink(basename(source), path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
  }
  return true;
}
