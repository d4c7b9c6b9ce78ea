import { createHash, randomBytes } from "node:crypto";

/** One wording of a mail. A wording never changes: a rewritten one has the next `revision`. */
export type Draft = {
  id: string;
  /** Whose it is: an id alone opens nobody else's draft. */
  owner: string;
  revision: number;
  to: string;
  about: string;
  body: string;
  /** What the person said when they declined the wording before. */
  wish?: string;
};

export type Drafts = {
  start(mail: Pick<Draft, "owner" | "to" | "about">): Draft;
  /** The newest wording. */
  find(id: string): Draft | undefined;
  write(id: string, body: string): Draft;
  /** Keeps what the person wants otherwise, for the next wording. */
  wish(id: string, note: string): void;
  /** Puts the draft aside, to be resumed by its id whenever. */
  save(id: string): void;
  saved(): readonly string[];
  send(draft: Draft, approvalId: string): void;
  sent: { to: string; body: string; approvalId: string }[];
};

export function openDrafts(): Drafts {
  const drafts = new Map<string, Draft>();
  const saved = new Set<string>();
  const sent: Drafts["sent"] = [];
  const change = (id: string, edit: (draft: Draft) => Draft): Draft => {
    const draft = drafts.get(id);
    if (draft === undefined) throw new Error(`There is no draft ${id}.`);
    const edited = edit(draft);
    drafts.set(id, edited);
    return edited;
  };
  return {
    start(mail) {
      const draft = { ...mail, id: `draft_${randomBytes(6).toString("hex")}`, revision: 0, body: "" };
      drafts.set(draft.id, draft);
      return draft;
    },
    find: (id) => drafts.get(id),
    write: (id, body) => change(id, ({ wish: _done, ...draft }) => ({ ...draft, body, revision: draft.revision + 1 })),
    wish: (id, note) => void change(id, (draft) => ({ ...draft, wish: note })),
    save: (id) => void saved.add(id),
    saved: () => [...saved],
    send({ id, to, body }, approvalId) {
      sent.push({ to, body, approvalId });
      saved.delete(id);
    },
    sent,
  };
}

/** What a draft says, in one value: as a precondition it keeps a wording that nobody saw from being sent. */
export function digestOf({ to, body }: Draft): string {
  return createHash("sha256")
    .update(JSON.stringify([to, body]))
    .digest("hex");
}
