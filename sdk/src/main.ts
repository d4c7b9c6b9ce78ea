import { type ApiClient, type ApiClientOptions, type CallOptions, createApiClient } from "./api-client";
import type {
  Caller,
  ConsumeAnswer,
  ConsumeRequest,
  Identity,
  LocalText,
  MintAnswer,
  MintRequest,
  Outcome,
  Presentation,
  Requirements,
  StatusAnswer,
  WithdrawReason,
} from "./api-types";
import { isApprovalId } from "./approval-id";
import { type DecisionClaims, decisionChallenge } from "./decision-challenge";
import { type Action, actionDigest, canonicalJson } from "./digest";
import { CountersignError } from "./errors";
import { copyExactly, InexactValueError, type JsonObject, type JsonValue } from "./exact-json";
import { callerFromAuthInfo, configuredCaller, type ResolveCaller } from "./gate/caller";
import type { GateEvent, InboxOptions } from "./gate/options";
import type { EndedCall, EndingHook, Grant, Tier, WriteGrant } from "./gate/spec";
import type { Ending } from "./gate/texts";
import { createGate, type Gate, type GateOptions, type GuardedHandler, type GuardSpec } from "./gate-v2";
import { localKeys, type RemoteKeysOptions, remoteKeys } from "./jwks";
import type { PasskeyClaim } from "./passkey-claim";
import type { EvidenceFault, EvidenceRefusal, VerifiedPasskey } from "./passkey-evidence";
import { type PinnedCredential, pinnedCredentialSchema } from "./pinned-credential";
import {
  type KeyLookup,
  type ReceiptClaims,
  type ReceiptExpectation,
  type ReceiptRefusal,
  type ReceiptVerdict,
  verifyReceipt,
} from "./receipt";
import { receiptClaimsSchema } from "./receipt-claims";
import { createResumer, type Job, type JobEnd, type JobStore, type Resumed, type Resumer } from "./resumer";
import { newerOnly, verifyWebhook, WebhookError, type WebhookEvent } from "./webhook";

export {
  type Action,
  type ApiClient,
  type ApiClientOptions,
  actionDigest,
  type Caller,
  type CallOptions,
  type ConsumeAnswer,
  type ConsumeRequest,
  CountersignError,
  callerFromAuthInfo,
  canonicalJson,
  configuredCaller,
  copyExactly,
  createApiClient,
  createGate,
  createResumer,
  type DecisionClaims,
  decisionChallenge,
  type EndedCall,
  type Ending,
  type EndingHook,
  type EvidenceFault,
  type EvidenceRefusal,
  type Gate,
  type GateEvent,
  type GateOptions,
  type Grant,
  type GuardedHandler,
  type GuardSpec,
  type Identity,
  type InboxOptions,
  InexactValueError,
  isApprovalId,
  type Job,
  type JobEnd,
  type JobStore,
  type JsonObject,
  type JsonValue,
  type KeyLookup,
  type LocalText,
  localKeys,
  type MintAnswer,
  type MintRequest,
  newerOnly,
  type Outcome,
  type PasskeyClaim,
  type PinnedCredential,
  type Presentation,
  pinnedCredentialSchema,
  type ReceiptClaims,
  type ReceiptExpectation,
  type ReceiptRefusal,
  type ReceiptVerdict,
  type RemoteKeysOptions,
  type Requirements,
  type ResolveCaller,
  type Resumed,
  type Resumer,
  receiptClaimsSchema,
  remoteKeys,
  type StatusAnswer,
  type Tier,
  type VerifiedPasskey,
  verifyReceipt,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WithdrawReason,
  type WriteGrant,
};
