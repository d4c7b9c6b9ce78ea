import { openCursor, sealCursor } from "../database/cursor";
import type { Service } from "../process";
import { verifyRecord } from "../records/verify";
import type { PersonSession } from "../sessions/session";
import { isAuthenticIdentity } from "../users/identity";
import { type Approval, type Status, type Subject, statusAt } from "./approval";
import { type ApprovalRow, approvalFromRow } from "./from-row";
import { inLocale } from "./message";
import type { Locale } from "./mint-request";
import { revokedKidsSql } from "./store";

export type InboxItem = {
  id: string;
  status: Status;
  title: string;
  clientName: string;
  createdAt: Date;
  expiresAt: Date;
  isRun: boolean;
  /** Of another identity of this person: which one has to sign in to open it. */
  signInAs: Account | undefined;
};
/** A local account by its address, another by the name of its provider, or by its issuer where no provider is configured for it. */
export type Account = { kind: "local" | "provider" | "issuer"; name: string };
export type Inbox = { pending: InboxItem[]; recent: InboxItem[]; nextCursor: string | undefined; now: Date };

const pageSize = 20;

/**
 * What waits for this person, newest first, and what was decided or ended in the last 30 days, page by page: of every
 * identity that is theirs, those that an admin linked and those that they linked themself. Listing gives no right: what this session may
 * not open says with which account it may (I2). Titles of what is pending come from the verified record; what cannot be verified is left out (I17).
 */
export async function readInbox(
  service: Service,
  session: PersonSession,
  locale: Locale,
  cursor?: string,
): Promise<Inbox> {
  const subjects = await subjectsOf(service, session);
  const accountOf = accountsOf(service, subjects);
  const after = cursor === undefined ? undefined : openCursor(service.secrets, session.userId, cursor);
  const values = [subjects.map((s) => s.iss), subjects.map((s) => s.sub)];
  const pending = await service.pool.query<InboxRow>(pendingSql, values);
  const recent = await service.pool.query<InboxRow>(recentSql, [
    ...values,
    after?.[0] ?? null,
    after?.[1] ?? null,
    pageSize + 1,
  ]);
  const page = recent.rows.slice(0, pageSize);
  const last = page.at(-1);
  const items = await Promise.all(pending.rows.map((row) => pendingItem(service, row, locale, accountOf(row))));
  return {
    pending: items.filter((item) => item !== undefined),
    recent: page.map((row) => itemFrom(approvalFromRow(row), row, row.title ?? row.tool, accountOf(row))),
    nextCursor:
      recent.rows.length > pageSize && last
        ? sealCursor(service.secrets, session.userId, [last.cursor_at, last.id])
        : undefined,
    now: pending.rows[0]?.now ?? recent.rows[0]?.now ?? new Date(),
  };
}

type InboxRow = ApprovalRow & { now: Date; client_name: string; cursor_at: string };

const fromSql = `
SELECT a.*, n."now", c."name" AS "client_name", a."created_at"::text AS "cursor_at", ${revokedKidsSql} AS "revoked_kids"
FROM "approval" a JOIN "client" c ON c."id" = a."client_id" JOIN unnest($1::text[], $2::text[]) AS s("iss", "sub") ON a."subject_iss" = s."iss" AND a."subject_sub" = s."sub",
  (SELECT clock_timestamp() AS "now") n`;
const pendingSql = `${fromSql} WHERE a."status" = 'pending' AND a."expires_at" > n."now" ORDER BY a."created_at" DESC, a."id" DESC LIMIT 100`;
const recentSql = `${fromSql} WHERE (a."status" <> 'pending' OR a."expires_at" <= n."now") AND a."created_at" > n."now" - INTERVAL '30 days'
  AND ($3::timestamptz IS NULL OR (a."created_at", a."id") < ($3::timestamptz, $4::text)) ORDER BY a."created_at" DESC, a."id" DESC LIMIT $5`;

async function pendingItem(
  service: Service,
  row: InboxRow,
  locale: Locale,
  signInAs: Account | undefined,
): Promise<InboxItem | undefined> {
  const approval = approvalFromRow(row);
  const record = await verifyRecord(service, approval);
  return (
    record && {
      ...itemFrom(approval, row, inLocale(record.presentation.title, locale), signInAs),
      clientName: record.client_name,
    }
  );
}

function itemFrom(approval: Approval, row: InboxRow, title: string, signInAs: Account | undefined): InboxItem {
  const isRun = approval.status === "accepted" && approval.consumption.at !== null;
  return {
    id: approval.id,
    status: statusAt(approval, row.now),
    title,
    clientName: row.client_name,
    createdAt: approval.createdAt,
    expiresAt: approval.expiresAt,
    isRun,
    signInAs,
  };
}

type OwnSubject = Subject & { mayOpen: boolean; email: string | null };

async function subjectsOf(service: Service, session: PersonSession): Promise<OwnSubject[]> {
  const isSession = ({ iss, sub }: Subject) => iss === session.iss && sub === session.sub;
  const rows = await service.prisma.identity.findMany({
    where: { userId: session.userId },
    include: { user: { select: { email: true } } },
  });
  const others = rows.filter((row) => isAuthenticIdentity(service.secrets, row) && !isSession(row));
  return [
    { iss: session.iss, sub: session.sub, mayOpen: true, email: null },
    ...others.map(({ iss, sub, mayApprove, linkedBy, user }) => ({
      iss,
      sub,
      mayOpen: mayApprove && linkedBy === "admin",
      email: user.email,
    })),
  ];
}

/** For each row: undefined where this session may open it. */
function accountsOf(service: Service, subjects: OwnSubject[]): (row: ApprovalRow) => Account | undefined {
  const keyOf = (iss: string, sub: string) => JSON.stringify([iss, sub]);
  const bySubject = new Map(subjects.map((subject) => [keyOf(subject.iss, subject.sub), subject]));
  return (row) => {
    const subject = bySubject.get(keyOf(row.subject_iss, row.subject_sub));
    if (!subject || subject.mayOpen) return undefined;
    const { iss, email } = subject;
    if (iss === service.issuer) return { kind: "local", name: email ?? subject.sub };
    const provider = service.config.oidcProviders.find(({ subjectIssuer }) => subjectIssuer === iss);
    return provider ? { kind: "provider", name: provider.label } : { kind: "issuer", name: iss };
  };
}
