import type { ConfiguredProvider } from "@/lib/oidc/parse-providers";
import { HiddenFields } from "./hidden-fields";

type Props = {
  provider: ConfiguredProvider;
  /** next-auth's own token. */
  csrfToken: string;
  /** What the flow is for; empty for a sign-in. */
  fields: Record<string, string>;
  label: string;
  isMain?: boolean;
};

/** A button that leads to a sign-in service. A form, because only a POST of ours begins anything (I1, I7). */
export function ProviderForm({ provider, csrfToken, fields, label, isMain = false }: Props) {
  return (
    <form method="post" action={`/api/auth/signin/${provider.id}`}>
      <HiddenFields fields={{ csrfToken, ...fields }} />
      <button className={`button w-full ${isMain ? "button-accent" : ""}`} type="submit">
        {label}
      </button>
    </form>
  );
}
