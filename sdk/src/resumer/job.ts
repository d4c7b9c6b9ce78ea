import type { Caller, Outcome } from "../api-types";
import type { JsonObject } from "../exact-json";
import type { Ending } from "../gate/texts";

/** What is to run once its approval is accepted: kept by the server that asked, and read from nowhere else when it runs. */
export type Job = {
  approvalId: string;
  tool: string;
  arguments: JsonObject;
  caller: Caller;
  /** With it the action's digest is computed anew, to be found in the receipt. */
  salt: string;
  effectiveRequirements?: Readonly<Record<string, unknown>>;
};

/** How a job ended; `text` says so to whoever asks. */
export type JobEnd =
  | { ran: false; ending: Ending; text: string }
  /** `unknown`: it was started, and whoever did never said how it ended. It is not run again. */
  | { ran: true; outcome: Outcome; text: string };

/** The author's own durable store of jobs, shared by all replicas. Plain JSON goes in, and the same must come out. */
export type JobStore = {
  /** Resolves when the job is durable, and open, also where one of this approval had ended. */
  put(job: Job): Promise<void>;
  /** The open job of an approval. */
  find(approvalId: string): Promise<Job | undefined>;
  /** Every open job. */
  open(): Promise<readonly Job[]>;
  /** Ends a job. A second end takes the place of the first. */
  end(approvalId: string, end: JobEnd): Promise<void>;
};

/** What a wake-up came to. */
export type Resumed =
  /** No open job under this id: Countersign is not even asked. */
  | { kind: "not_ours" }
  | { kind: "waiting" }
  /** Granted to an attempt that has not reported yet, perhaps another replica's, perhaps one that died. */
  | { kind: "started" }
  /** It cannot be known now. The job stays open, and the next wake-up or sweep looks again. */
  | { kind: "later"; ending: Ending }
  | ({ kind: "ended" } & JobEnd);
