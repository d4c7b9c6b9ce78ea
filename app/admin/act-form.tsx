import type { ReactNode } from "react";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { HiddenFields } from "../hidden-fields";
import { type About, actTarget, adminPath } from "./posted-form";

/** What the forms of an admin's page about one thing have in common. `canAct`: the sign-in is recent. */
export type Acts = { service: Service; session: PersonSession; about: About; id: string; canAct: boolean };

type Props = { acts: Acts; verb: string; fields?: Record<string, string>; className?: string; children: ReactNode };

/** A form of an admin's page; nothing where the sign-in is too old for what it does. */
export function ActForm({ acts, verb, fields = {}, className = "", children }: Props) {
  const { service, session, about, id, canAct } = acts;
  if (!canAct) return null;
  const csrf = csrfToken(service.secrets, { sid: session.sid, purpose: "admin", target: actTarget(about, verb, id) });
  return (
    <form className={className} method="post" action={`${adminPath(about, id)}/${verb}`}>
      <HiddenFields fields={{ csrf, ...fields }} />
      {children}
    </form>
  );
}

type ActProps = { acts: Acts; verb: string; title: string; what: string; button: string; isDanger?: boolean };

/** A section that says what an act does, and its button at the end. */
export function ActSection({ acts, verb, title, what, button, isDanger = false }: ActProps) {
  if (!acts.canAct) return null;
  return (
    <section className="card mt-6">
      <h2 className="heading row">{title}</h2>
      <ActForm acts={acts} verb={verb} className="row">
        <p className="mb-3">{what}</p>
        <button className={`button w-full sm:w-auto ${isDanger ? "border-danger text-danger" : ""}`} type="submit">
          {button}
        </button>
      </ActForm>
    </section>
  );
}
