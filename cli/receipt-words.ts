import type { EvidenceFault, VerifiedPasskey } from "@countersign/mcp/passkey-evidence";
import type { PinnedCredential } from "@countersign/mcp/pinned-credential";
import type { ReceiptClaims, ReceiptRefusal } from "@countersign/mcp/receipt";

/**
 * What a genuine receipt proves, in lines for people: which approval, who decided what and when, by what right, what a passkey adds to
 * that, and what it is not. `credentials` are those it was compared with, if any.
 */
export function describeReceipt(
  claims: ReceiptClaims,
  passkey: VerifiedPasskey | undefined,
  credentials: readonly PinnedCredential[] = [],
): string[] {
  const { sub_id: subject, caller } = claims;
  return [
    `  approval           ${claims.approval_id}`,
    `  asked by           ${claims.aud} (policy version ${claims.policy_version})`,
    ...(claims.asked_at === undefined ? [] : [`  asked at           ${claims.asked_at}`]),
    `  on behalf of       ${caller.sub} at ${caller.iss}${caller.clientId === undefined ? "" : ` through ${caller.clientId}`}`,
    `  of                 ${subject.sub} at ${subject.iss}`,
    `  tool               ${claims.tool}`,
    `  action             ${claims.action_digest}`,
    ...endLines(claims),
    ...(claims.decision === "accept" ? evidenceLines(claims, passkey, credentials) : []),
    "This is evidence of what happened to the approval. It grants nothing: only consume lets the tool run, once.",
  ];
}

/** Why a receipt does not count, as the rest of a sentence. */
export function refusalWords(reason: ReceiptRefusal, fault?: EvidenceFault): string {
  return fault === undefined ? refusals[reason] : `${refusals[reason]}: ${faults[fault]}`;
}

/** What a receipt is worth whose key was revoked from an instant on. */
export function revokedWords(
  kid: string,
  standing: "before_revocation" | "unproven",
  revokedAt: Date,
  passkey: VerifiedPasskey | undefined,
): string[] {
  const from = revokedAt.toISOString();
  if (standing === "before_revocation")
    return [
      `Signed before the key was revoked (${kid}, from ${from} on): genuine as far as its own date can be trusted.`,
      "Whoever stole the key can choose that date: compare it with what else is known of it.",
    ];
  return [
    `UNPROVEN: signed with key ${kid}, which is revoked from ${from} on: whoever stole it may have made this.`,
    passkey === undefined || passkey.pinned === false
      ? "Nothing it says can be relied on."
      : "What its passkey signed holds all the same: that passkey is in the file. Nothing else can be relied on.",
  ];
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

/** What is proved by the passkey's signature alone, and what is not. */
function evidenceLines(
  claims: ReceiptClaims,
  verified: VerifiedPasskey | undefined,
  credentials: readonly PinnedCredential[],
): string[] {
  const { passkey } = claims;
  if (verified === undefined || passkey === undefined)
    return ["  passkey            none signed this: that this person accepted it is the service's word"];
  const signedAt = new Date(passkey.iat * 1000).toISOString();
  return [
    `  passkey            ${verified.credentialId}, registered ${passkey.created_at} for ${passkey.rp_id}`,
    `  signed with it     at ${passkey.origin}, in answer to a question of ${signedAt}`,
    "  proved             the holder of this passkey, asked for PIN, fingerprint or face, signed exactly this action,",
    `                     the page that showed it (${claims.view_digest ?? ""}) and the instant of the question;`,
    "                     this holds even if the database and the service's signing key leak later",
    claims.asked_at === undefined
      ? "  not said           when this was asked for, so not whether the passkey is older than that"
      : "  compared           the passkey was registered before this was asked for, as the service dates both",
    ...ownerLines(claims, verified, credentials),
  ];
}

/** Whether anybody but the service says whose passkey it is. */
function ownerLines(
  { sub_id: subject, authn }: ReceiptClaims,
  { credentialId, pinned }: VerifiedPasskey,
  credentials: readonly PinnedCredential[],
): string[] {
  const owner = pinned === "authn" ? authn : subject;
  if (pinned === false || owner === undefined)
    return [
      "  vouched for        that the passkey is this person's: by the service alone (--credentials compares it);",
      "                     and when it was registered",
    ];
  const pin = credentials.find(
    ({ iss, sub, credentialId: id }) => id === credentialId && iss === owner.iss && sub === owner.sub,
  );
  const name = pin?.name === undefined ? "" : `, named "${pin.name}"`;
  return [
    `  checked            the file has this passkey for ${owner.sub} at ${owner.iss}${name}`,
    ...(pinned === "authn"
      ? [
          "  vouched for        that an admin linked the two identities: by the service alone;",
          "                     and when the passkey was registered",
        ]
      : ["  vouched for        when the passkey was registered: by the service alone"]),
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
  missing_evidence: "no passkey signed this accept, and one was required",
  bad_evidence: "the passkey's signature in it does not hold",
  unpinned_credential: "the passkey that signed it is not the file's for this person, so it may be anybody's",
};

const faults: Record<EvidenceFault, string> = {
  malformed: "it is not of the form that it must have",
  not_an_accept: "only the accept of a page is ever signed",
  wrong_type: "it was not made to sign in or to decide",
  wrong_challenge: "it is for another approval, action, page, person, service, MCP server or moment",
  wrong_origin: "it was made at another address, or one that is not secure",
  cross_origin: "it was made inside another site's page",
  wrong_rp_id: "the passkey belongs to another site, or to a whole top-level domain",
  not_verified_user: "nobody was asked for PIN, fingerprint or face",
  late_credential: "the passkey was not registered before the approval was asked for and shown",
  wrong_time: "it was shown before it was asked for, or decided at another time than it was signed",
  bad_key: "the public key is not one of its algorithm, or one under which anybody can sign",
  bad_signature: "another key made it, or what it covers was changed",
};
