import type { NamedUser } from "@/lib/users/named-user";

/** A user in words. What a provider calls them is said to be its word: somebody may be called there like a local account here. */
export function namedUserWords({ userId, account, isLocal, saidBy }: NamedUser): string {
  return isLocal
    ? `${userId} (${account})`
    : `${userId} (${JSON.stringify(account)} as ${saidBy ?? "a provider"} says)`;
}
