import { requireValidKey } from "../api-keys/require-valid";
import type { RegisteredKey } from "../clients/cache";
import { transact } from "../database/transact";
import { Problem } from "../problem";
import type { Service } from "../process";
import { readIdempotent, rememberReused } from "./idempotency";
import { insertApproval, type MintIdempotency, type MintLimits, type NewApproval } from "./insert";
import { readTakenTags } from "./match-code";
import { buildMintAnswer, type MintAnswer, readMintAnswer } from "./mint-answer";
import { requireTool } from "./mint-policy";
import { mintRefusal } from "./mint-refusal";
import type { MintRequest } from "./mint-request";
import { prepare } from "./prepare";
import { clearWay, isReusable } from "./reuse";
import { bodyTagsOf } from "./tags";

export type MintResult = { answer: MintAnswer; how: "minted" | "reused" | "replayed" };

/**
 * Asks for a person: judges the request by the client's policy, signs the record, stores it pending (section 6).
 * With `idempotencyKey` a repetition within 24 hours is answered with the first approval and its current status.
 * Errors: those of `effectiveFor`, and `frozen`, `recently_declined`, `too_many_pending`, `mint_rate`, `idempotency_key_reused`,
 * `unauthorized` (key revoked meanwhile), `clock_skew`.
 */
export async function mint(
  service: Service,
  key: RegisteredKey,
  request: MintRequest,
  idempotencyKey?: string,
): Promise<MintResult> {
  const idempotency =
    idempotencyKey === undefined ? undefined : { key: idempotencyKey, bodyTags: bodyTagsOf(service.secrets, request) };
  requireTool(key, request.action.tool);
  let current = key;
  let takenTags: ReadonlySet<string> = new Set();
  let codesTried = 0;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const result =
      (await replayed(service, current, request, idempotency)) ??
      (await tryMint(service, current, request, idempotency, takenTags));
    if (result === "credential_changed") current = await requireValidKey(service, key.keyId);
    else if (result === "code_taken") {
      codesTried += 1;
      if (codesTried >= codesTriedMax) throw new Problem("unavailable", { retryAfterSeconds: 1 });
      takenTags = await readTakenTags(service.pool, request.caller);
      attempt -= 1;
    } else if (result !== "again") return result;
  }
  throw new Problem("unavailable", { detail: "Others kept changing the same approval; send the request again." });
}

/** Each look at the codes that are taken may be overtaken by another mint for the same person. */
const codesTriedMax = 20;

async function tryMint(
  service: Service,
  key: RegisteredKey,
  request: MintRequest,
  idempotency: MintIdempotency,
  takenTags: ReadonlySet<string>,
): Promise<MintResult | "again" | "code_taken" | "credential_changed"> {
  const { approval, effective, signed } = await prepare(service, key, request, takenTags);
  const { maxPendingPerSubject, maxMintsPerSubjectPerHour } = key.client.policy;
  const limits = {
    maxPending: maxPendingPerSubject,
    maxPerHour: maxMintsPerSubjectPerHour,
    findLive: request.reuse === "live",
  };
  const { title, locale } = request.presentation;
  const minted = (isSubjectKnown: boolean): MintResult => ({
    how: "minted",
    answer: buildMintAnswer(
      service,
      key.client,
      { ...approval, status: "pending", next: "wait", title, signed, isSubjectKnown },
      locale,
    ),
  });

  const verdict = await insertApproval(service.pool, approval, limits, idempotency);
  if (verdict.verdict === "minted") return minted(verdict.isSubjectKnown);
  if (verdict.verdict === "replay") return "again";
  if (verdict.verdict === "key_revoked") return signAnew(service);
  if (verdict.verdict === "code_taken" || verdict.verdict === "credential_changed") return verdict.verdict;
  if (verdict.verdict !== "live") throw mintRefusal(verdict);
  for (const liveId of verdict.liveIds) {
    if (!(await isReusable(service, key.client, liveId, request, effective))) continue;
    if (idempotency) await rememberReused(service.pool, key.client.id, idempotency, liveId);
    return { how: "reused", answer: await readMintAnswer(service, key.client, liveId, locale) };
  }
  // A pending one comes first; an accepted one stays beside the new one.
  const superseded = await supersede(service, approval, limits, idempotency, verdict.liveIds[0] ?? "");
  if (superseded === "key_revoked") return signAnew(service);
  return typeof superseded === "string" ? superseded : minted(superseded.isSubjectKnown);
}

/** Another process has revoked the key that we signed with: learn of it, and of the key in its place. */
async function signAnew(service: Service): Promise<"again"> {
  await service.keys.refresh();
  return "again";
}

/** Withdraws the live approval and mints the other one in its place, both or neither. `again`: somebody changed the live one first. */
async function supersede(
  service: Service,
  approval: NewApproval,
  limits: MintLimits,
  idempotency: MintIdempotency,
  liveId: string,
): Promise<"again" | "code_taken" | "key_revoked" | { isSubjectKnown: boolean }> {
  const result = await transact(service.pool, async (db) => {
    if (!(await clearWay(service, db, liveId))) return "again" as const;
    const judged = await insertApproval(db, approval, { ...limits, findLive: false }, idempotency);
    if (judged.verdict === "minted") return judged;
    // Thrown, so that the withdrawal is undone.
    if (judged.verdict === "code_taken" || judged.verdict === "key_revoked") throw new Undone(judged.verdict);
    if (judged.verdict === "replay" || judged.verdict === "live")
      throw new Problem("unavailable", {
        detail: "The same request is under way; send it again.",
        retryAfterSeconds: 1,
      });
    throw mintRefusal(judged);
  }).catch((error: unknown) => {
    if (error instanceof Undone) return error.verdict;
    throw error;
  });
  if (typeof result !== "string") service.hub.announce(liveId);
  return result;
}

class Undone extends Error {
  readonly verdict: "code_taken" | "key_revoked";
  constructor(verdict: Undone["verdict"]) {
    super(verdict);
    this.verdict = verdict;
  }
}

async function replayed(
  service: Service,
  key: RegisteredKey,
  request: MintRequest,
  idempotency: MintIdempotency,
): Promise<MintResult | undefined> {
  if (!idempotency) return undefined;
  const approvalId = await readIdempotent(service.pool, key.client.id, idempotency);
  return approvalId === undefined
    ? undefined
    : { how: "replayed", answer: await readMintAnswer(service, key.client, approvalId, request.presentation.locale) };
}
