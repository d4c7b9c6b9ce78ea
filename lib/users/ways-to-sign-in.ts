import { readPasskeys } from "../passkeys/passkey";
import type { Service } from "../process";

/** One way in which a user signs in, with the identity that the session then has. */
export type Way = { iss: string; sub: string } & (
  | { kind: "password" }
  | { kind: "passkeys"; count: number }
  | { kind: "provider"; id: string; label: string }
);

type Of = {
  user: { id: string; passwordHash: string | null };
  /** Those whose rows are authentic: nobody signs in as another one. */
  identities: readonly { iss: string; sub: string }[];
};

/** How a user can sign in while they are not disabled: their password, passkeys by identity, providers by identity. */
export async function waysToSignIn(service: Service, { user, identities }: Of): Promise<Way[]> {
  const byPassword: Way[] = user.passwordHash === null ? [] : [{ kind: "password", iss: service.issuer, sub: user.id }];
  const byIdentity = await Promise.all(
    identities.map(async ({ iss, sub }): Promise<Way[]> => {
      const passkeys = await readPasskeys(service.prisma, service.secrets, { userId: user.id, iss, sub });
      const { length: count } = passkeys;
      return [
        ...(count > 0 ? [{ kind: "passkeys" as const, count, iss, sub }] : []),
        ...providersOf(service, iss).map(({ id, label }) => ({ kind: "provider" as const, id, label, iss, sub })),
      ];
    }),
  );
  return [...byPassword, ...byIdentity.flat()];
}

/** The providers whose people carry this `iss` here; the configuration allows one. */
export function providersOf(service: Pick<Service, "config">, iss: string) {
  return service.config.oidcProviders.filter(({ subjectIssuer }) => subjectIssuer === iss);
}
