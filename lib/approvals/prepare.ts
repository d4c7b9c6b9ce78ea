import { randomBytes } from "node:crypto";
import { actionDigest } from "@countersign/mcp/digest";
import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type Localised, type RecordClaims, viewVersion } from "../records/claims";
import { signRecord } from "../records/sign";
import type { Subject } from "./approval";
import { newApprovalId } from "./id";
import type { NewApproval } from "./insert";
import { matchTagsOf } from "./match-code";
import { type Effective, effectiveFor } from "./mint-policy";
import type { MintRequest } from "./mint-request";
import { preconditionsDigest } from "./preconditions";
import { actionTagsOf, reuseTagsOf } from "./tags";

/** Judges a request by the policy and makes the approval with its signed record; nothing is stored.
 * `takenTags` are those of codes that it must not have. Errors: those of `effectiveFor`, and `too_many_pending` where every code is taken. */
export async function prepare(
  service: Service,
  key: RegisteredKey,
  request: MintRequest,
  takenTags: ReadonlySet<string>,
): Promise<{ approval: NewApproval; effective: Effective; signed: { record: string; claims: RecordClaims } }> {
  const effective = effectiveFor(key, request);
  const id = effective.matchCode ? idWithFreeCode(service, request.caller, takenTags) : newApprovalId();
  const claims = claimsFor(service, key, request, effective, id);
  const record = await signRecord(service.keys, claims);
  const { action, caller, presentation } = request;
  const [actionTag, ...otherActionTags] = actionTagsOf(service.secrets, key.client, request);
  const [matchTag = null, ...otherMatchTags] = effective.matchCode
    ? matchTagsOf(service.secrets, claims.jti, caller)
    : [];
  const approval: NewApproval = {
    id: claims.jti,
    clientId: key.client.id,
    keyId: key.keyId,
    tool: action.tool,
    argumentNames: Object.keys(action.arguments).slice(0, argumentNamesMax),
    title: inEnglish(presentation.title),
    retainTitle: presentation.retainTitle ?? true,
    caller,
    actionDigest: claims.action_digest,
    policyVersion: claims.policy_version,
    record,
    actionTag,
    actionTags: [actionTag, ...otherActionTags],
    matchTag,
    otherMatchTags,
    reuseTag:
      request.reuse === "live" ? reuseTagsOf(service.secrets, claims.jti, key.client, request, effective)[0] : null,
    createdAt: new Date(claims.iat * 1000),
    expiresAt: new Date(claims.exp * 1000),
    actBySeconds: effective.actBySeconds,
    metadata: request.metadata ?? null,
    traceContext: service.traces.current(),
  };
  return { approval, effective, signed: { record, claims } };
}

/** An id whose confirmation code nothing else has that waits for this person. */
function idWithFreeCode(service: Service, subject: Subject, takenTags: ReadonlySet<string>): string {
  for (let tries = 0; tries < idsTriedMax; tries += 1) {
    const id = newApprovalId();
    const tags = matchTagsOf(service.secrets, id, subject);
    if (!tags.some((tag) => takenTags.has(tag.toString("hex")))) return id;
  }
  throw new Problem("too_many_pending", { retryAfterSeconds: 30 });
}

/** With one of the 90 codes free, an id that has it is not among so many once in a million times. */
const idsTriedMax = 1_300;

/** Names beyond this many add nothing to an audit row but size. */
const argumentNamesMax = 200;

function claimsFor(
  service: Service,
  key: RegisteredKey,
  request: MintRequest,
  effective: ReturnType<typeof effectiveFor>,
  id: string,
): RecordClaims {
  const { action, caller, presentation, mcpClient, preconditions } = request;
  const { locale: _locale, retainTitle: _retainTitle, ...shown } = presentation;
  const salt = randomBytes(16).toString("base64url");
  const iat = Math.floor(Date.now() / 1000);
  return {
    iss: service.issuer,
    aud: service.issuer,
    jti: id,
    client_id: key.client.id,
    client_name: key.client.name,
    caller,
    sub_id: { format: "iss_sub", iss: caller.iss, sub: caller.sub },
    action,
    presentation: shown,
    ...(mcpClient ? { mcp_client: mcpClient } : {}),
    requirements: {
      maxAuthAgeSeconds: effective.maxAuthAgeSeconds,
      passkey: effective.passkey,
      matchCode: effective.matchCode,
      actBySeconds: effective.actBySeconds,
      stepUpSeconds: effective.stepUpSeconds,
    },
    policy_version: key.client.policyVersion,
    ...(preconditions ? { preconditions_digest: preconditionsDigest(preconditions, salt) } : {}),
    salt,
    action_digest: actionDigest({ ...action, salt }),
    view_version: viewVersion,
    iat,
    exp: iat + effective.ttlSeconds,
  };
}

const inEnglish = (text: Localised): string => (typeof text === "string" ? text : text.en);
