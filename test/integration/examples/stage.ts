import { createServer, type RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createMachineApp } from "@/app/api/machine";
import { createFormApp, isForm } from "@/app/forms";
import type { Choice, Person, Setting } from "@/examples/support/setting";
import { openForPerson } from "@/lib/approvals/open";
import { type Service, setService } from "@/lib/process";
import type { PersonSession } from "@/lib/sessions/session";
import { buildView } from "@/lib/views/build";
import type { View } from "@/lib/views/view";
import { addPerson, addTestClient, signIn } from "@/test/support/actors";
import { createTestService } from "@/test/support/database";
import { formFor } from "@/test/support/deciding";
import { freePorts } from "@/test/support/free-port";

export type ExampleStage = {
  setting: Setting;
  /** What the person had before them, and how they decided. */
  decisions: { approvalId: string; choice: Choice; view: View }[];
  /** What the approvals of a tool came to, in the order of the decisions. */
  endsOf(tool: string): Promise<Pick<ApprovalRow, "status" | "consumed" | "outcome">[]>;
  stop(): Promise<void>;
};

type ApprovalRow = { id: string; tool: string; status: string; consumed: boolean; outcome: string | null };

/**
 * A real service over HTTP and PostgreSQL, with a person whose decisions arrive as the page's form sends them: by POST, with the cookie, to
 * the handler of that form. Only the pages themselves are not rendered.
 */
export async function startExampleStage(): Promise<ExampleStage> {
  const [port = 0] = await freePorts(1);
  const url = `http://localhost:${port}`;
  const { service, stop } = await createTestService({ url, port });
  setService(service);
  const http = createServer(listenerOf(service));
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  const client = await addTestClient(service);
  const ada = await addPerson(service);
  const signedIn = await signIn(service, ada);
  const decisions: ExampleStage["decisions"] = [];
  const person: Person = async ({ approvalId, message = "" }, choice, note = "") => {
    const code = /confirmation code is (\d\d)/.exec(message)?.[1] ?? "";
    const view = await viewFor(service, signedIn.session, approvalId);
    decisions.push({ approvalId, choice, view });
    const form = await formFor(service, signedIn.session, approvalId, choice, { code, note });
    await post(`${url}/a/${approvalId}/decision`, signedIn.cookie, form);
    const decided = (await readApprovals(service)).find(({ id }) => id === approvalId);
    if (decided?.status === "pending") throw new Error("the form was sent back: nothing is decided");
  };
  const { apiKey, clientId } = client;
  return {
    setting: { url, apiKey, clientId, caller: { iss: ada.iss, sub: ada.sub }, person },
    decisions,
    async endsOf(tool) {
      const place = ({ id }: ApprovalRow) => decisions.findIndex(({ approvalId }) => approvalId === id);
      const rows = (await readApprovals(service)).filter((row) => row.tool === tool);
      rows.sort((a, b) => place(a) - place(b));
      return rows.map(({ status, consumed, outcome }) => ({ status, consumed, outcome }));
    },
    async stop() {
      service.hub.drain();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await stop();
    },
  };
}

function listenerOf(service: Service): RequestListener {
  const answerMachine = getRequestListener(createMachineApp(service).fetch, { overrideGlobalObjects: false });
  const answerForm = getRequestListener(createFormApp(service).fetch, { overrideGlobalObjects: false });
  return (request, response) => {
    const answer = isForm(request.method, request.url ?? "/") ? answerForm : answerMachine;
    Promise.resolve(answer(request, response)).catch(() => response.destroy());
  };
}

async function viewFor(service: Service, session: PersonSession, approvalId: string): Promise<View> {
  const opened = await openForPerson(service, session, approvalId);
  if (!opened?.record) throw new Error("the page would not show this approval");
  return buildView(opened.record, "en");
}

async function post(url: string, cookie: string, form: Awaited<ReturnType<typeof formFor>>): Promise<void> {
  const { choice = "", csrf, stamp, locale, renderedAt, code, hasRead, note } = form;
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, origin: new URL(url).origin, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      decision: choice,
      csrf,
      stamp,
      locale,
      renderedAt: String(renderedAt),
      code,
      read: hasRead ? "yes" : "",
      note,
    }),
  });
  if (response.status !== 303) throw new Error(`the decision was answered with ${response.status}`);
}

async function readApprovals(service: Service): Promise<ApprovalRow[]> {
  const { rows } = await service.pool.query<ApprovalRow>(
    `SELECT "id", "tool", "status", "consumed_at" IS NOT NULL AS "consumed", "outcome" FROM "approval"`,
  );
  return rows;
}

/** A text of the page as it is drawn, visible characters alone. */
export function drawn(text: View["title"] | null): string {
  return (text?.spans ?? []).map((span) => (span.kind === "text" ? span.text : "")).join("");
}

/** How approvals end in these examples. */
export const ends = {
  ranOnce: { status: "accepted", consumed: true, outcome: "succeeded" },
  neverRan: { status: "accepted", consumed: false, outcome: null },
  declined: { status: "declined", consumed: false, outcome: null },
  cancelled: { status: "cancelled", consumed: false, outcome: null },
};
