import { actTarget } from "@/app/admin/posted-form";
import type { CsrfBinding } from "@/lib/sessions/csrf";
import { stepUpForAccount } from "@/lib/sessions/replace";
import type { FuzzForm } from "./fuzz-forms";

/** The token of a form, or undefined where a form has none: who asks for a sign-in has no session yet. */
export function bindingOf({
  route,
  params,
  fields,
}: Pick<FuzzForm, "route" | "params" | "fields">): Omit<CsrfBinding, "sid"> | undefined {
  if (route === "/signin/passkey-challenge") return undefined;
  const [, folder = "", verb = ""] = /^\/admin\/(clients|people|webhooks)\/:id\/([a-z-]+)$/.exec(route) ?? [];
  const about = ({ clients: "client", people: "user", webhooks: "webhook" } as const)[folder];
  if (about) return { purpose: "admin", target: actTarget(about, verb, params["id"] ?? "") };
  const binding = bindings[route];
  if (!binding) throw new Error(`what is the token of ${route} for?`);
  return binding(params, new URLSearchParams(fields));
}

/** What a form's token is for, by its route; a form that is missing here makes the test fail. */
const bindings: Record<string, (params: Record<string, string>, fields: URLSearchParams) => Omit<CsrfBinding, "sid">> =
  {
    "/a/:id/challenge": ({ id = "" }) => ({ purpose: "decide", target: id }),
    "/a/:id/decision": ({ id = "" }) => ({ purpose: "decide", target: id }),
    "/a/:id/take-back": ({ id = "" }) => ({ purpose: "take_back", target: id }),
    "/a/:id/lift-cooldown": ({ id = "" }) => ({ purpose: "lift_cooldown", target: id }),
    "/a/:id/sign-in-again/submit": ({ id = "" }) => ({ purpose: "step_up", target: id }),
    "/account/freezes/:id/lift": ({ id = "" }) => ({ purpose: "account", target: `freeze:${id}` }),
    "/account/links/unlink": (_, fields) => ({
      purpose: "account",
      target: `unlink:${JSON.stringify([fields.get("iss") ?? "", fields.get("sub") ?? ""])}`,
    }),
    "/account/passkeys": () => ({ purpose: "account", target: "passkey:new" }),
    "/account/passkeys/challenge": () => ({ purpose: "account", target: "passkey:new" }),
    "/account/passkeys/step-up": (_, fields) => ({ purpose: "step_up", target: fields.get("stepUpFor") ?? "" }),
    "/account/passkeys/step-up/challenge": (_, fields) => ({
      purpose: "step_up",
      target: fields.get("stepUpFor") ?? "",
    }),
    "/account/passkeys/:id/rename": ({ id = "" }) => ({ purpose: "account", target: `passkey:${id}` }),
    "/account/passkeys/:id/remove": ({ id = "" }) => ({ purpose: "account", target: `passkey:${id}` }),
    "/account/sessions/:name/end": ({ name = "" }) => ({ purpose: "account", target: `session:${name}` }),
    "/account/sessions/end-others": () => ({ purpose: "account", target: "sessions:others" }),
    "/account/sign-in-again/submit": () => ({ purpose: "step_up", target: stepUpForAccount }),
  };
