import type { ReceiptClaims, ReceiptRefusal } from "@countersign/mcp/receipt";

/** What a genuine receipt proves, in lines for people: which approval, who decided what and when, by what right, and what it is not. */
export function describeReceipt(claims: ReceiptClaims): string[] {
  const { sub_id: subject, caller } = claims;
  return [
    `  approval           ${claims.approval_id}`,
    `  asked by           ${claims.aud} (policy version ${claims.policy_version})`,
    `  on behalf of       ${caller.sub} at ${caller.iss}${caller.clientId === undefined ? "" : ` through ${caller.clientId}`}`,
    `  of                 ${subject.sub} at ${subject.iss}`,
    `  tool               ${claims.tool}`,
    `  action             ${claims.action_digest}`,
    ...endLines(claims),
    "This is evidence of what happened to the approval. It grants nothing: only consume lets the tool run, once.",
  ];
}

/** Why a receipt does not count, as the rest of a sentence. */
export function refusalWords(reason: ReceiptRefusal): string {
  return refusals[reason];
}

function endLines(claims: ReceiptClaims): string[] {
  const { authn } = claims;
  const at = claims.decided_at ?? new Date(claims.iat * 1000).toISOString();
  if (claims.decision === undefined || authn === undefined)
    return [`  result             ${claims.status}${withReason(claims)} at ${at}; nobody decided it`];
  return [
    `  result             ${verbs[claims.decision]}${withReason(claims)} at ${at}`,
    `  decided by         ${authn.sub} at ${authn.iss}`,
    `  by what right      ${rightWords(authn.via)}`,
    ...(claims.auth_time === undefined ? [] : [`  signed in          ${signInWords(claims.auth_time, claims.amr)}`]),
    ...(claims.shown_at === undefined
      ? []
      : [`  page shown         ${claims.shown_at}${languageWords(claims.locale)}`]),
    ...(claims.act_by === undefined ? [] : [`  to be used by      ${claims.act_by}`]),
  ];
}

const withReason = (claims: ReceiptClaims) => (claims.reason === undefined ? "" : ` (${claims.reason})`);

const verbs = { accept: "accepted", decline: "declined", cancel: "closed without deciding" } as const;

function rightWords(via: string): string {
  if (via === "self") return "it is the very identity that was asked";
  if (via === "admin_link") return "an admin had linked the identity that was asked to this person";
  return via;
}

function signInWords(authTime: number, amr: string[] | undefined): string {
  return `${new Date(authTime * 1000).toISOString()}${amr === undefined ? "" : ` by ${amr.join(", ")}`}`;
}

const languageWords = (locale: string | undefined) => (locale === undefined ? "" : ` in ${locale}`);

const refusals: Record<ReceiptRefusal, string> = {
  malformed: "it is not a signed token in compact form",
  wrong_alg: "it is not signed with Ed25519",
  wrong_typ: "it is another kind of signed thing, not a receipt",
  critical_header: "its header demands an extension that receipts do not have",
  unknown_key: "the key it names is not one of the issuer's, or was revoked",
  keys_unavailable: "the issuer's keys could not be read, so nothing is known about it",
  bad_signature: "the signature does not fit: it was changed, or signed by somebody else",
  bad_claims: "it is signed, but does not say what a receipt must say",
  wrong_issuer: "it was issued by another service",
  wrong_audience: "it was made for another MCP server",
  wrong_approval: "it belongs to another approval",
  wrong_action: "it belongs to another action",
  wrong_tool: "it belongs to another tool",
  wrong_subject: "it is about another person",
  wrong_decision: "it says another decision",
};
