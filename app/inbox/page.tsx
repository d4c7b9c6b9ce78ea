import { getLocale, getTranslations } from "next-intl/server";
import { type Account, type InboxItem, readInbox } from "@/lib/approvals/inbox";
import { getService } from "@/lib/process";
import { instantFormat } from "../instant";
import { Outside } from "../outside";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";
import { requireSession } from "../session";

type Props = { searchParams: Promise<{ cursor?: string | string[] }> };

export const generateMetadata = () => pageTitle("inbox");

/** What waits for this person, then what came of the rest. */
export default async function InboxPage({ searchParams }: Props) {
  const service = getService();
  const session = await requireSession("/inbox");
  const { cursor } = await searchParams;
  const t = await getTranslations("inbox");
  const locale = (await getLocale()) === "ja" ? "ja" : "en";
  const inbox = await readInbox(service, session, locale, typeof cursor === "string" ? cursor : undefined);
  return (
    <PageFrame path="/inbox" account={session.account} nav={session}>
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      {inbox.pending.length === 0 ? (
        <p className="card row text-muted mt-4">{t("nothing")}</p>
      ) : (
        <ul className="card mt-4">
          {inbox.pending.map((item) => (
            <Item key={item.id} item={item} now={inbox.now} />
          ))}
        </ul>
      )}
      {inbox.recent.length > 0 ? (
        <>
          <h2 className="heading mt-8 mb-2">{t("recent")}</h2>
          <ul className="card">
            {inbox.recent.map((item) => (
              <Item key={item.id} item={item} now={inbox.now} />
            ))}
          </ul>
        </>
      ) : null}
      {inbox.nextCursor ? (
        <a className="button-plain mt-3" href={`/inbox?cursor=${encodeURIComponent(inbox.nextCursor)}`}>
          {t("older")}
        </a>
      ) : null}
    </PageFrame>
  );
}

async function Item({ item, now }: { item: InboxItem; now: Date }) {
  const isPending = item.status === "pending";
  const { signInAs } = item;
  const title = (
    <span className={isPending ? "block text-lg font-bold" : "block"}>
      <Outside text={item.title} />
    </span>
  );
  if (signInAs)
    return (
      <li className="row">
        {title}
        <Facts item={item} now={now} />
        {isPending ? <Elsewhere id={item.id} signInAs={signInAs} /> : null}
      </li>
    );
  return (
    <li>
      <a className="row hover:bg-note block" href={`/a/${item.id}`}>
        {title}
        <Facts item={item} now={now} />
      </a>
    </li>
  );
}

async function Facts({ item, now }: { item: InboxItem; now: Date }) {
  const t = await getTranslations("inbox");
  const instant = await instantFormat();
  const minutes = Math.max(1, Math.ceil((item.expiresAt.getTime() - now.getTime()) / 60_000));
  return (
    <span className="text-muted flex flex-wrap justify-between gap-x-4 text-sm">
      <Outside text={item.clientName} />
      <span>
        {item.status === "pending"
          ? minutes < 60
            ? t("left", { minutes })
            : t("leftHours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
          : `${t(`status.${item.isRun ? "run" : item.status}`)} · ${instant(item.createdAt)}`}
      </span>
    </span>
  );
}

/** For an identity of this person that this session is not: it lists here, and opens for the account it is for. */
async function Elsewhere({ id, signInAs }: { id: string; signInAs: Account }) {
  const t = await getTranslations("inbox");
  const name = () => <Outside text={signInAs.name} />;
  return (
    <p className="mt-1 text-sm">
      {t.rich(`elsewhere.${signInAs.kind}`, { name })}{" "}
      <a className="button-plain" href={`/signin?callbackUrl=/a/${id}`}>
        {t("switch")}
      </a>
    </p>
  );
}
