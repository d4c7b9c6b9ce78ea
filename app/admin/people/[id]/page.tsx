import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { readNotice } from "@/lib/admin/notice";
import { type AdminPerson, readPersonForAdmin } from "@/lib/admin/read-person";
import { getService } from "@/lib/process";
import { isRecent } from "@/lib/sessions/session";
import { Facts } from "../../../facts";
import { instantFormat } from "../../../instant";
import { miss } from "../../../miss";
import { Outside } from "../../../outside";
import { requireSession } from "../../../session";
import { ActSection, type Acts } from "../../act-form";
import { AdminFrame, SignInFirst } from "../../frame";
import { SaidBy } from "../../named-user";
import { adminPath } from "../../posted-form";
import { adminTitle } from "../../title";
import { Identities } from "./identities";
import { LinkForm } from "./link-form";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => adminTitle("adminPerson");

/** One person: as whom they may decide, where they are signed in, and how to stop them. */
export default async function AdminPersonPage({ params }: Props) {
  const { id } = await params;
  const path = adminPath("user", id);
  const session = await requireSession(path);
  const service = getService();
  const person = await readPersonForAdmin(service, session, id);
  if (!person) return miss();
  const acts: Acts = { service, session, about: "user", id, canAct: isRecent(session, person.now) };
  const t = await getTranslations("admin");
  const said = await readNotice(service, await headers(), { sid: session.sid, page: path });
  return (
    <AdminFrame path={path} session={session} up={{ href: "/admin/people", name: t("people") }}>
      <h1 className="text-2xl font-bold">
        <Outside text={person.name} />
      </h1>
      <SignInFirst path={path} session={session} now={person.now} />
      <PersonFacts person={person} />
      <Identities acts={acts} identities={person.identities} />
      <LinkForm acts={acts} person={person} typed={said?.link} />
      <Stops acts={acts} person={person} />
    </AdminFrame>
  );
}

async function PersonFacts({ person }: { person: AdminPerson }) {
  const t = await getTranslations("admin.person");
  const role = await getTranslations("admin.roles");
  const instant = await instantFormat();
  const { userId, account, roles, createdAt, disabledAt, hasPassword, passkeys, sessions } = person;
  return (
    <Facts
      facts={[
        [
          t("account"),
          <span key="account">
            <Outside text={account} />
            <SaidBy user={person} />
          </span>,
        ],
        [
          t("id"),
          <span className="font-mono break-all" key="id">
            {userId}
          </span>,
        ],
        [t("roles"), roles.length === 0 ? t("noRole") : roles.map((each) => role(each)).join(", ")],
        [t("state"), disabledAt ? t("disabledSince", { at: instant(disabledAt) }) : t("active")],
        [t("since"), instant(createdAt)],
        [t("password"), hasPassword ? t("yes") : t("no")],
        [t("passkeys"), String(passkeys)],
        [t("sessions"), t("sessionCount", { count: sessions })],
      ]}
    />
  );
}

async function Stops({ acts, person }: { acts: Acts; person: AdminPerson }) {
  const t = await getTranslations("admin.person");
  if (person.disabledAt)
    return (
      <ActSection acts={acts} verb="enable" title={t("enableTitle")} what={t("enableWhat")} button={t("enable")} />
    );
  return (
    <>
      <ActSection acts={acts} verb="end-sessions" title={t("endTitle")} what={t("endWhat")} button={t("end")} />
      {person.isSelf ? (
        <p className="text-muted mt-6 text-sm">{t("disableSelf")}</p>
      ) : (
        <ActSection
          acts={acts}
          verb="disable"
          title={t("disableTitle")}
          what={t("disableWhat")}
          button={t("disable")}
          isDanger
        />
      )}
    </>
  );
}
