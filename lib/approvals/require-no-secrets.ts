import { type FoundSecret, findSecrets, type SecretKind } from "@countersign/mcp/secret-shapes";
import type { Policy } from "../clients/policy";
import type { JsonObject } from "../json/value";
import { Problem } from "../problem";
import type { MintRequest } from "./mint-request";

/** A refusal names so many places; there may be more. */
const errorsMax = 10;

/**
 * Refuses a request that holds what looks like a secret: in arguments, presentation or the MCP client's name where the policy does not
 * allow the kind; in what is never erased whatever the policy says. Not searched: identities, which come from a verified token and are
 * compared as they are, and preconditions, of which a salted digest is kept and nothing shown.
 * Errors: `secret_in_request` with at most ten places and kinds, never a value.
 */
export function requireNoSecrets(policy: Policy, request: MintRequest): void {
  const isAllowed = ({ kind }: FoundSecret) => policy.allowedSecretKinds.includes(kind);
  const kept = findSecrets(keptOf(request));
  const erased = findSecrets(erasedOf(request)).filter((one) => !isAllowed(one) && !kept.some(isSameAs(one)));
  const found = [
    ...erased.map((one) => ({ pointer: one.pointer, message: `looks like ${words[one.kind]}` })),
    ...kept.map((one) => ({
      pointer: one.pointer,
      message: `looks like ${words[one.kind]}, and would be kept for good: no policy allows that`,
    })),
  ];
  if (found.length === 0) return;
  throw new Problem("secret_in_request", {
    errors: found.slice(0, errorsMax),
    detail: "Send a reference to the secret instead. Nothing of this request was kept.",
  });
}

const words: Record<SecretKind, string> = {
  private_key: "a private key",
  api_key: "an API key",
  token: "an access token or password",
  card_number: "a payment card number",
  my_number: "an individual number (My Number)",
};

const isSameAs = (one: FoundSecret) => (other: FoundSecret) => one.pointer === other.pointer && one.kind === other.kind;

/** What outlives the erasure of the arguments (section 12): metadata, the names of arguments, and a title that is retained. */
function keptOf({ action, presentation, metadata }: MintRequest): JsonObject {
  const names = Object.fromEntries(Object.keys(action.arguments).map((name) => [name, null]));
  return {
    action: { arguments: names },
    ...(presentation.retainTitle === false ? {} : { presentation: { title: presentation.title } }),
    ...(metadata ? { metadata } : {}),
  };
}

/** What is stored in the record until it is erased, and shown to the person. */
function erasedOf({ action, presentation, mcpClient }: MintRequest): JsonObject {
  return {
    action: { arguments: action.arguments },
    presentation,
    ...(mcpClient ? { mcpClient } : {}),
  } as JsonObject;
}
