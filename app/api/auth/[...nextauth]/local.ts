import CredentialsProvider from "next-auth/providers/credentials";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { startSession } from "@/lib/sessions/start";
import { readDeviceCookie } from "@/lib/throttle/device-cookie";
import { authenticate } from "@/lib/users/authenticate";
import type { SignedIn } from "./options";

/** Local accounts: an address and a password. */
export function localAccounts(service: Service) {
  return CredentialsProvider({
    credentials: { email: {}, password: {} },
    authorize: async (credentials, request) => {
      const { email, password } = credentials ?? {};
      if (typeof email !== "string" || typeof password !== "string") return null;
      const headers = new Headers((request.headers ?? {}) as Record<string, string>);
      return signIn(service, email, password, headers).catch(nameCause(service));
    },
  });
}

async function signIn(service: Service, email: string, password: string, headers: Headers): Promise<SignedIn | null> {
  const address = headers.get("x-forwarded-for") ?? undefined;
  const user = await authenticate(service, email, password, { address, device: readDeviceCookie(service, headers) });
  if (!user) return null;
  const claims = await startSession(service, {
    userId: user.id,
    iss: service.issuer,
    sub: user.id,
    amr: ["pwd"],
    passwordHash: user.passwordHash,
    userAgent: headers.get("user-agent") ?? undefined,
    address,
  });
  return { id: user.id, claims };
}

/**
 * next-auth puts an error's own text into the address of the next page: there it is one of our words, and never what a database or a
 * library says.
 */
function nameCause(service: Service): (error: unknown) => never {
  return (error) => {
    if (error instanceof Problem && error.code === "throttled")
      throw new Error(`throttled:${error.extras.retryAfterSeconds ?? 1}`);
    service.log.error({ reason: (error as Error).message }, "somebody could not be signed in");
    throw new Error("unavailable");
  };
}
