import type { Stats } from "node:fs";

/** A user and group of the operating system. */
export type Account = { uid: number; gid: number };

/** Who runs the server and who owns the files in the data folder; `undefined` = the user of this process. */
export type Accounts = { server: Account | undefined; owner: Account | undefined };

/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY: Account = { uid: 65534, gid: 65534 };

/**
 * Chooses the accounts for a data folder. An ordinary user does all by themselves. Root works as the folder's owner; in a
 * folder of its own it hands the server, and only the server, to the unprivileged id 65534.
 */
export function chooseAccounts(callerUid: number | undefined, dataDir: Pick<Stats, "uid" | "gid">): Accounts {
  if (callerUid !== 0) return { server: undefined, owner: undefined };
  if (dataDir.uid === 0) return { server: NOBODY, owner: undefined };
  const folderOwner = { uid: dataDir.uid, gid: dataDir.gid };
  return { server: folderOwner, owner: folderOwner };
}
