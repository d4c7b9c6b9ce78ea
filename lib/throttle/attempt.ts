import type pg from "pg";
import type { Secrets } from "../secrets/derive";
import { mac } from "../secrets/mac";
import type { Volume } from "./volume";

/** The keys of an attempt's counters: of its source at this account, and of the account altogether. They name nobody. */
export type Attempt = {
  source: Buffer;
  account: Buffer;
  /** Where the source is only a network: what that may try in a minute, over all accounts. */
  volume?: Volume | undefined;
  /** Written by `countAttempt`, read by `uncountAttempt`: the instant that was counted, and those that stood there before. */
  counted?: { at: Date; source: Date | null; account: Date | null };
};

/** `account` is what was typed, whether there is such an account or not; `source` names where from, such as `address 192.0.2.1`. */
export function attemptOf(
  secrets: Secrets,
  kind: "password",
  account: string,
  source: string,
  volume?: Volume,
): Attempt {
  return {
    source: mac(secrets.tag, ["throttle", kind, account, source]),
    account: mac(secrets.tag, ["throttle", kind, account]),
    volume,
  };
}

/** Counts of one account are changed one after the other until the transaction ends, over all replicas. */
export async function lockAccount(db: pg.PoolClient, attempt: Attempt): Promise<void> {
  await db.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [attempt.account.toString("hex")]);
}
