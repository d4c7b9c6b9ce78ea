/** Where an example runs: a Countersign, the key of a client there, and the person whose requests they are. */
export type Setting = {
  /** COUNTERSIGN_URL */
  url: string;
  /** COUNTERSIGN_API_KEY */
  apiKey: string;
  /** COUNTERSIGN_CLIENT_ID: the audience of the receipts. */
  clientId: string;
  /** CALLER_ISS and CALLER_SUB: who the access token belongs to, and so who has to approve. */
  caller: { iss: string; sub: string };
  person: Person;
};

/**
 * Decides on the approval page as the check wants it, and resolves when that is done. In CI it is played; from the terminal it is you
 * (`terminal-person.ts`).
 */
export type Person = (page: ApprovalPage, choice: Choice, note?: string) => Promise<void>;
export type Choice = "accept" | "decline" | "cancel";

export type ApprovalPage = {
  approvalId: string;
  /** What the chat app shows beside the link, with the confirmation code. Without a link the person looks into the inbox. */
  message?: string;
};
