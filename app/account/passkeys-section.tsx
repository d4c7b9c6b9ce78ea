import { getTranslations } from "next-intl/server";
import { readClock } from "@/lib/database/clock";
import { mayChangePasskeys } from "@/lib/passkeys/may-change";
import { passkeyNameMax } from "@/lib/passkeys/name";
import { type Passkey, readPasskeys, readPasskeysOfUser } from "@/lib/passkeys/passkey";
import { passkeysMax } from "@/lib/passkeys/register";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { isRecent, type PersonSession } from "@/lib/sessions/session";
import { instantFormat } from "../instant";
import { AddPasskey } from "./add-passkey";
import { newPasskeyTarget, passkeyTarget, signInAgain } from "./passkeys/target";

type Props = { service: Service; session: PersonSession };

/** The passkeys of the identity that is signed in: what each is called, and how to add, rename and remove one. */
export async function PasskeysSection({ service, session }: Props) {
  const t = await getTranslations("passkeys");
  const passkeys = await readPasskeys(service.prisma, service.secrets, session);
  const all = await readPasskeysOfUser(service.prisma, service.secrets, session.userId);
  const now = await readClock(service.pool);
  const mayChange = mayChangePasskeys(session, all.length, now);
  const csrf = (target: string) => csrfToken(service.secrets, { sid: session.sid, purpose: "account", target });
  return (
    <section className="mt-8" id="passkeys" aria-labelledby="passkeys-title">
      <h2 className="heading mb-2" id="passkeys-title">
        {t("title")}
      </h2>
      <div className="card">
        <p className="row text-muted text-sm">{t("what")}</p>
        {passkeys.map((passkey) => (
          <Row
            key={passkey.credentialId}
            passkey={passkey}
            csrf={csrf(passkeyTarget(passkey.credentialId))}
            mayRename={isRecent(session, now)}
            mayRemove={mayChange}
            isLast={passkeys.length === 1}
          />
        ))}
        <div className="row space-y-3">
          {mayChange ? (
            <Add csrf={csrf(newPasskeyTarget)} isFull={passkeys.length >= passkeysMax} />
          ) : (
            <>
              <p>{all.length === 0 ? t("addFirst") : t("addWithOne")}</p>
              <a className="button" href={signInAgain}>
                {t("signInAgain")}
              </a>
            </>
          )}
        </div>
      </div>
    </section>
  );
}

type RowProps = { passkey: Passkey; csrf: string; mayRename: boolean; mayRemove: boolean; isLast: boolean };

async function Row({ passkey, csrf, mayRename, mayRemove, isLast }: RowProps) {
  const t = await getTranslations("passkeys");
  const at = await instantFormat();
  const { name, createdAt, lastUsedAt, isBackedUp } = passkey;
  return (
    <div className="row">
      <p>
        <bdi className="font-bold break-words" id={nameId(passkey)}>
          {name}
        </bdi>{" "}
        {isBackedUp ? <span className="tag">{t("synced")}</span> : null}
      </p>
      <p className="text-muted text-sm">
        {t("added", { at: at(createdAt) })}
        {" · "}
        {lastUsedAt ? t("lastUsed", { at: at(lastUsedAt) }) : t("neverUsed")}
      </p>
      <div className="flex flex-wrap gap-x-6">
        {mayRename ? (
          <Act passkey={passkey} csrf={csrf} verb="rename" label={t("rename")}>
            <label className="block">
              <span className="label">{t("newName")}</span>
              <input
                className="input mt-1"
                name="name"
                defaultValue={name}
                maxLength={passkeyNameMax}
                pattern=".*\S.*"
                autoComplete="off"
                required
              />
            </label>
            <button className="button" type="submit">
              {t("save")}
            </button>
          </Act>
        ) : null}
        {mayRemove ? (
          <Act passkey={passkey} csrf={csrf} verb="remove" label={t("remove")}>
            <p>{t("removeHint")}</p>
            {isLast ? <p>{t("removeLast")}</p> : null}
            <button className="button" type="submit">
              {t("removeConfirm")}
            </button>
          </Act>
        ) : null}
      </div>
    </div>
  );
}

const nameId = ({ credentialId }: Passkey) => `passkey-${credentialId}`;

type ActProps = {
  passkey: Passkey;
  csrf: string;
  verb: "rename" | "remove";
  label: string;
  children: React.ReactNode;
};

/** A form that stands folded behind its label; one of a passkey's is open at a time. */
function Act({ passkey, csrf, verb, label, children }: ActProps) {
  return (
    <details className="open:w-full" name={nameId(passkey)}>
      <summary className="button-plain list-none [&::-webkit-details-marker]:hidden" aria-describedby={nameId(passkey)}>
        {label}
      </summary>
      <form className="space-y-3 pb-3" method="post" action={`/account/passkeys/${passkey.credentialId}/${verb}`}>
        <input type="hidden" name="csrf" value={csrf} />
        {children}
      </form>
    </details>
  );
}

async function Add({ csrf, isFull }: { csrf: string; isFull: boolean }) {
  const t = await getTranslations("passkeys");
  if (isFull) return <p>{t("tooMany", { max: passkeysMax })}</p>;
  const faults = {
    cancelled: t("cancelled"),
    exists: t("exists"),
    refused: t("refused"),
    too_many: t("tooMany", { max: passkeysMax }),
    bad_name: t("badName", { max: passkeyNameMax }),
    unsupported: t("unsupported"),
  };
  const texts = { name: t("name"), hint: t("nameHint"), add: t("add"), waiting: t("waiting"), faults };
  return (
    <>
      <noscript>
        <p className="text-muted text-sm">{t("noScript")}</p>
      </noscript>
      <AddPasskey csrf={csrf} nameMax={passkeyNameMax} texts={texts} />
    </>
  );
}
