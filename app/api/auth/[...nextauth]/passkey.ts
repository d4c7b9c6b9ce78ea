import CredentialsProvider from "next-auth/providers/credentials";
import { signInWithPasskey } from "@/lib/passkeys/sign-in";
import type { Service } from "@/lib/process";
import type { SignedIn } from "./options";

/** Passkeys: the answer of an authenticator, to the challenge that this browser was given. */
export function passkeyProvider(service: Service) {
  return CredentialsProvider({
    id: "passkey",
    credentials: { answer: {} },
    authorize: async (credentials, request): Promise<SignedIn> => {
      const { answer } = credentials ?? {};
      const headers = new Headers((request.headers ?? {}) as Record<string, string>);
      const claims = await signInWithPasskey(service, typeof answer === "string" ? answer : "", headers).catch(
        (error: Error) => {
          service.log.error({ reason: error.message }, "somebody could not be signed in with a passkey");
          throw new Error("unavailable");
        },
      );
      // next-auth puts an error's own text into the address of the next page: it is one of our words.
      if (!claims) throw new Error("passkey");
      return { id: claims.userId, claims };
    },
  });
}
