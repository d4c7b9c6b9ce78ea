import { getTranslations } from "next-intl/server";
import { HiddenFields } from "./hidden-fields";

type Props = {
  action: string;
  fields: Record<string, string>;
  /** The address of the account whose password is asked for; left out where the person says which it is. */
  account?: string;
};

/** Asks for the password of a local account. */
export async function PasswordForm({ action, fields, account }: Props) {
  const t = await getTranslations("signin");
  return (
    <form className="card mt-5" method="post" action={action}>
      <div className="space-y-4 p-5">
        <HiddenFields fields={fields} />
        <label className="block">
          <span className="label">{t("email")}</span>
          <input
            className="input mt-1"
            type="email"
            autoComplete="username"
            // One that cannot be changed is there for the person and their password manager, and is not sent.
            {...(account === undefined ? { name: "email", required: true } : { value: account, readOnly: true })}
          />
        </label>
        <label className="block">
          <span className="label">{t("password")}</span>
          <input className="input mt-1" type="password" name="password" autoComplete="current-password" required />
        </label>
        <button className="button button-accent w-full" type="submit">
          {t("submit")}
        </button>
      </div>
    </form>
  );
}
