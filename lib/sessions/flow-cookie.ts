import { z } from "zod";
import type { Service } from "../process";
import { open, seal } from "../secrets/seal";
import { readCookie } from "./cookie";
import { transactionSeconds } from "./transaction";

const transaction = z.object({
  id: z.string(),
  purpose: z.enum(["step_up", "link"]),
  sid: z.string(),
  userId: z.string(),
  provider: z.string(),
  approvalId: z.string().nullable(),
  startedAt: z.int(),
});

const schema = z.object({
  provider: z.string(),
  /** That of the authorization request: a flow is finished by its own answer and by no other. */
  state: z.string().min(1),
  /** Paths of ours: where a success and where a refusal lead. */
  to: z.string(),
  back: z.string(),
  /** Absent: a plain sign-in. */
  transaction: transaction.optional(),
  /** Milliseconds since the epoch. */
  until: z.int(),
});

/** What this browser has under way at a provider, and with which request it began. */
export type Flow = z.output<typeof schema>;

/**
 * A `Set-Cookie` for a flow that begins: encrypted, so that nobody but this service says what the provider's answer is for. To be set in
 * the same response as next-auth's own cookies: the newest flow of a browser replaces the one before it.
 */
export async function flowCookie(service: Service, flow: Omit<Flow, "until">): Promise<string> {
  const until = Date.now() + transactionSeconds * 1000;
  const sealed = await seal(service.secrets, "flow", "flow", { ...flow, until } satisfies Flow);
  return `${nameOf(service)}=${sealed}; ${attributes(service, transactionSeconds)}`;
}

export function clearFlow(service: Service): string {
  return `${nameOf(service)}=; ${attributes(service, 0)}`;
}

/** The flow of a request, or undefined: there is none, it is too old, or not from here. */
export async function readFlow(service: Service, headers: Headers): Promise<Flow | undefined> {
  const value = readCookie(headers, nameOf(service));
  const flow = value ? schema.safeParse(await open(service.secrets, "flow", "flow", value)).data : undefined;
  return flow && flow.until > Date.now() ? flow : undefined;
}

const isSecure = (service: Service) => service.config.url.startsWith("https:");
const nameOf = (service: Service) => (isSecure(service) ? "__Host-countersign.flow" : "countersign.flow");

function attributes(service: Service, maxAge: number): string {
  return `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure(service) ? "; Secure" : ""}`;
}
