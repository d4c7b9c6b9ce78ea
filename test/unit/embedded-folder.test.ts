import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseAccounts } from "@/lib/embedded/account";
import { copyNative } from "@/lib/embedded/copy-native";
import { linkLibraries } from "@/lib/embedded/link-libraries";
import { checkFolder, openFolder } from "@/lib/embedded/paths";
import { writePrivate } from "@/lib/embedded/write-private";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "embedded-folder-"));
});
afterEach(() => rm(root, { recursive: true }));

describe("who runs the server", () => {
  it("is the user themselves, whoever owns the folder", () => {
    expect(chooseAccounts(1000, { uid: 1000, gid: 1000 })).toEqual({ server: undefined, owner: undefined });
    expect(chooseAccounts(1000, { uid: 0, gid: 0 })).toEqual({ server: undefined, owner: undefined });
    expect(chooseAccounts(undefined, { uid: 0, gid: 0 })).toEqual({ server: undefined, owner: undefined });
  });

  it("is never root: in root's own folder the id 65534, in another's folder its owner", () => {
    expect(chooseAccounts(0, { uid: 0, gid: 0 })).toEqual({ server: { uid: 65534, gid: 65534 }, owner: undefined });
    const owner = { uid: 1000, gid: 1001 };
    expect(chooseAccounts(0, owner)).toEqual({ server: owner, owner });
  });
});

describe("the data folder", () => {
  it("is created closed to others (0700)", async () => {
    const { folder } = await openFolder(join(root, "new", "data"));
    expect((await stat(join(root, "new", "data"))).mode & 0o777).toBe(0o700);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it("is refused when the place in it is a link, a file or open to others", async () => {
    await mkdir(join(root, "elsewhere"), { mode: 0o700 });
    await symlink(join(root, "elsewhere"), join(root, "postgres"));
    await expect(openFolder(root)).rejects.toThrow("not a link");
    await rm(join(root, "postgres"));
    await writeFile(join(root, "postgres"), "");
    await expect(openFolder(root)).rejects.toThrow("not a link or a file");
    await rm(join(root, "postgres"));
    await mkdir(join(root, "postgres"));
    await chmod(join(root, "postgres"), 0o750);
    await expect(openFolder(root)).rejects.toThrow("open to other users (mode 750)");
  });

  it("is refused when another user made it first", async () => {
    const stats = await lstat(root);
    expect(() => checkFolder(root, stats, [stats.uid + 1], 0o077)).toThrow(`belongs to user ${stats.uid}`);
    expect(() => checkFolder(root, stats, [0, stats.uid], 0o077)).not.toThrow();
  });
});

describe("a private file", () => {
  it("is readable for its owner only and replaces a link instead of following it", async () => {
    const path = join(root, "secret");
    await writeFile(join(root, "victim"), "untouched");
    await symlink(join(root, "victim"), path);
    await writePrivate(path, "password", undefined);
    expect(await readFile(join(root, "victim"), "utf8")).toBe("untouched");
    expect(await readFile(path, "utf8")).toBe("password");
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
  });
});

describe("PostgreSQL's programs", () => {
  const links = [{ source: "native/lib/libx.so.1.2", target: "native/lib/libx.so.1" }];

  async function makePackage(list: object): Promise<string> {
    const native = join(root, "package", "native");
    await mkdir(join(native, "lib"), { recursive: true });
    await mkdir(join(native, "bin"));
    await writeFile(join(native, "lib", "libx.so.1.2"), "library");
    await writeFile(join(native, "bin", "server"), "program", { mode: 0o700 });
    await writeFile(join(native, "pg-symlinks.json"), JSON.stringify(list));
    return native;
  }

  it("get the library links that are missing and keep those they have", async () => {
    const native = await makePackage(links);
    await linkLibraries(native);
    await linkLibraries(native);
    expect(await readlink(join(native, "lib", "libx.so.1"))).toBe("libx.so.1.2");
  });

  it("get no link outside their package", async () => {
    const native = await makePackage([{ source: "native/lib/libx.so.1.2", target: "native/../../escaped" }]);
    await expect(linkLibraries(native)).rejects.toThrow("leads out of its package");
  });

  it("are copied once, with links, open for reading and closed for writing", async () => {
    const native = await makePackage(links);
    await chmod(join(native, "lib", "libx.so.1.2"), 0o600);
    await chmod(native, 0o700);
    const copy = join(root, "copy");
    expect(await copyNative(native, copy, undefined)).toBe(true);
    expect(await copyNative(native, copy, undefined)).toBe(false);
    expect(await readFile(join(copy, "lib", "libx.so.1"), "utf8")).toBe("library");
    expect((await stat(copy)).mode & 0o777).toBe(0o755);
    expect((await stat(join(copy, "lib", "libx.so.1.2"))).mode & 0o777).toBe(0o644);
    expect((await stat(join(copy, "bin", "server"))).mode & 0o777).toBe(0o755);
  });

  it("are not taken from a copy that others can write", async () => {
    const native = await makePackage(links);
    const copy = join(root, "copy");
    await copyNative(native, copy, undefined);
    await chmod(copy, 0o777);
    await expect(copyNative(native, copy, undefined)).rejects.toThrow("open to other users");
  });
});
