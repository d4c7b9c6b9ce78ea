import type { RegisteredClient } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { rfc3339 } from "../receipts/sign";
import type { Localised, RecordClaims } from "../records/claims";
import { isRecordOfRevokedKey, verifyRecord } from "../records/verify";
import { isSubjectKnown } from "../users/known-subject";
import { type Approval, type Next, nextFor, type Status, statusAt } from "./approval";
import { matchCodeOf } from "./match-code";
import { elicitationMessage, inLocale } from "./message";
import type { Locale } from "./mint-request";
import { readApproval } from "./store";

/** The answer of `POST /api/v1/approvals`. `salt`, `record` and the requirements are gone once the approval was erased (section 12) or its signing key revoked. */
export type MintAnswer = {
  id: string;
  status: Status;
  next: Next;
  createdAt: string;
  expiresAt: string;
  actionDigest: string;
  salt?: string;
  url: string;
  matchCode?: string;
  effectiveRequirements?: RecordClaims["requirements"];
  elicitation: { mode: "url"; url: string; message: string };
  record?: string;
  /** What the caller should know though it was minted: nobody may be able to open the link. */
  warnings?: MintWarning[];
};

export type MintWarning = "subject_never_signed_in";

type Parts = {
  id: string;
  status: Status;
  next: Next;
  createdAt: Date;
  expiresAt: Date;
  actionDigest: string;
  tool: string;
  title: Localised;
  matchTag: Uint8Array | null;
  signed?: { record: string; claims: Pick<RecordClaims, "salt" | "requirements" | "sub_id"> };
  isSubjectKnown: boolean;
};

/** Builds the answer from what is known; the match code is in it, so it is never logged. */
export function buildMintAnswer(
  service: Service,
  client: RegisteredClient,
  parts: Parts,
  locale: Locale = "en",
): MintAnswer {
  const url = approvalUrl(service, parts.id);
  const matchCode = parts.signed?.claims.requirements.matchCode
    ? matchCodeOf(service.secrets, { ...parts, subject: subjectOf(parts.signed.claims) })
    : undefined;
  const message = elicitationMessage({
    clientName: client.name,
    title: inLocale(parts.title, locale),
    tool: parts.tool,
    matchCode,
    locale,
  });
  return {
    id: parts.id,
    status: parts.status,
    next: parts.next,
    createdAt: rfc3339(parts.createdAt),
    expiresAt: rfc3339(parts.expiresAt),
    actionDigest: parts.actionDigest,
    url,
    ...(matchCode === undefined ? {} : { matchCode }),
    elicitation: { mode: "url", url, message },
    ...(parts.signed
      ? {
          salt: parts.signed.claims.salt,
          effectiveRequirements: parts.signed.claims.requirements,
          record: parts.signed.record,
        }
      : {}),
    ...(parts.isSubjectKnown ? {} : { warnings: ["subject_never_signed_in" as const] }),
  };
}

/** The answer rebuilt from the stored approval with its current status. Errors: `not_found`, `integrity_failed`. */
export async function readMintAnswer(
  service: Service,
  client: RegisteredClient,
  approvalId: string,
  locale: Locale = "en",
): Promise<MintAnswer> {
  const read = await readApproval(service.pool, approvalId);
  if (read?.approval.clientId !== client.id) throw new Problem("not_found");
  const { approval, now } = read;
  const claims = approval.erasedAt ? undefined : await verifyRecord(service, approval);
  if (!claims && !(await isOver(service, approval))) throw new Problem("integrity_failed");
  return buildMintAnswer(
    service,
    client,
    {
      ...approval,
      status: statusAt(approval, now),
      next: nextFor(approval, now),
      isSubjectKnown: await isSubjectKnown(service.pool, approval.subject),
      title: claims?.presentation.title ?? approval.title ?? approval.tool,
      ...(claims && approval.record ? { signed: { record: approval.record, claims } } : {}),
    },
    locale,
  );
}

const subjectOf = ({ sub_id: { iss, sub } }: Pick<RecordClaims, "sub_id">) => ({ iss, sub });

/** Whether it ended and its record can say nothing any more: it was erased, or the key that signed it was revoked. */
async function isOver(service: Service, approval: Approval): Promise<boolean> {
  if (approval.erasedAt) return true;
  const receipt = approval.status === "pending" ? undefined : await checkStoredReceipt(service, approval);
  return receipt !== undefined && (await isRecordOfRevokedKey(service, approval));
}

/** The link for the person: the opaque id and nothing else (I10). */
function approvalUrl(service: Pick<Service, "config">, approvalId: string): string {
  return `${service.config.url}/a/${approvalId}`;
}
