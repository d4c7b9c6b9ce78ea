import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFormApp } from "@/app/forms";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { nameOfSession } from "@/lib/sessions/name";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { addPerson, addTestClient, mintApproval, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { loopbackAllowed } from "@/test/support/delivering";
import { bindingOf } from "@/test/support/fuzz-form-tokens";
import { type FuzzForm, formsOf } from "@/test/support/fuzz-forms";
import { registeredBy } from "@/test/support/registering";
import { changedTables, createFingerprint } from "@/test/support/table-fingerprint";

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** Far above what any of them takes, however busy the machine is. */
const answerMaxMs = 20_000;

let t: TestService;
let ids: (route: string) => string[];
/** Cookies, and the session whose tokens fit. */
const people = new Map<string, { cookie: string; sid: string | undefined }>();

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  setService(t.service);
  const { service } = t;
  const policy = { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 1_000 };
  const client = await addTestClient(service, policy);
  const ada = await addPerson(service);
  const other = await addPerson(service, "Grace");
  const [adas, admins] = [
    await signIn(service, ada),
    await signIn(service, await addPerson(service, "Alan", ["admin"])),
  ];
  const elsewhere = await signIn(service, ada);
  const approvals: string[] = [];
  for (let i = 0; i < 12; i += 1) approvals.push((await mintApproval(client, ada)).id);
  for (const id of approvals.slice(0, 3)) await decideAs(service, adas.session, id, "accept");
  await decideAs(service, adas.session, approvals[4] ?? "", "decline");
  const { credentialId } = await registeredBy(service, adas.session);
  // The other person's, so that Ada's approvals stay.
  const asked = (await mintApproval(client, other)).id;
  await decideAs(service, (await signIn(service, other)).session, asked, "not_requested");
  const { rows } = await service.pool.query<{ id: string }>(`SELECT "id" FROM "freeze"`);
  const actor = { kind: "admin", via: "cli" } as const;
  const { endpointId } = await addEndpoint(
    service,
    { clientId: client.clientId, url: "http://127.0.0.1:9/", events: [] },
    actor,
  );
  const byFolder: [string, string[]][] = [
    ["/a/", approvals],
    ["/admin/clients/", [client.clientId]],
    ["/admin/people/", [other.userId]],
    ["/admin/webhooks/", [endpointId]],
    ["/account/passkeys/", [credentialId]],
    ["/account/sessions/", [nameOfSession(service.secrets, elsewhere.session.sid)]],
    ["/account/freezes/", rows.map(({ id }) => id)],
  ];
  ids = (route) => byFolder.find(([folder]) => route.startsWith(folder))?.[1] ?? ["x"];
  people.set("ada", { cookie: adas.cookie, sid: adas.session.sid });
  people.set("admin", { cookie: admins.cookie, sid: admins.session.sid });
  people.set("nobody", { cookie: "", sid: undefined });
  people.set("forger", { cookie: `${adas.cookie.slice(0, -2)}xx`, sid: adas.session.sid });
  people.set("twice", {
    cookie: `${adas.cookie}; ${admins.cookie}; next-auth.csrf-token=%00%zz`,
    sid: admins.session.sid,
  });
});
afterAll(() => t.stop());

const routesOf = (app: ReturnType<typeof createFormApp>) => [...new Set(app.routes.map(({ path }) => path))];

async function send(form: FuzzForm, token: string | undefined): Promise<Response> {
  const fields = new URLSearchParams(form.fields);
  if (token !== undefined) fields.set("csrf", token);
  const hasBody = form.method !== "GET" && form.method !== "HEAD";
  const request = new Request(`${t.service.config.url}${form.path}`, {
    method: form.method,
    headers: { ...form.headers, cookie: people.get(form.who)?.cookie ?? "" },
    ...(hasBody ? { body: fields.toString() } : {}),
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${answerMaxMs} ms`)), answerMaxMs);
  });
  return await Promise.race([createFormApp(t.service).fetch(request), late]).finally(() => clearTimeout(timer));
}

function tokenOf(form: FuzzForm, target = bindingOf(form)): string | undefined {
  const sid = people.get(form.who)?.sid;
  return target && sid ? csrfToken(t.service.secrets, { sid, ...target }) : undefined;
}

describe("the forms of the pages, with fields, paths, methods, cookies and headers of any kind", () => {
  it("I1, I7: without the token of its form never a 500, and not a row is written", { timeout: 300_000 }, async () => {
    const routes = routesOf(createFormApp(t.service));
    expect(routes.length).toBeGreaterThan(25);
    const fingerprint = await createFingerprint(t.service);
    let before = await fingerprint();
    const tokens = fc.constantFrom("none", "empty", "odd", "of another form", "of another session");
    await fc.assert(
      fc.asyncProperty(
        formsOf(routes, [...people.keys()], (route) => ids(route)),
        tokens,
        async (form, token) => {
          const target = { purpose: "account", target: "something else" } as const;
          const sent = {
            none: undefined,
            empty: "",
            odd: "\0é",
            "of another form": tokenOf(form, target),
            "of another session": csrfToken(t.service.secrets, { sid: "ses_x", ...(bindingOf(form) ?? target) }),
          }[token];
          const answer = await send(form, sent);
          const after = await fingerprint();
          const changed = changedTables(before, after);
          before = after;
          expect([answer.status < 500, changed, form.path]).toEqual([true, [], form.path]);
        },
      ),
      { seed, numRuns: 1_000 },
    );
  });

  it("with the token, whatever else is in it: never a 500, and always an answer", { timeout: 300_000 }, async () => {
    const routes = routesOf(createFormApp(t.service)).filter((route) => route !== "/account/sessions/end-others");
    await fc.assert(
      fc.asyncProperty(
        formsOf(routes, ["ada", "admin"], (route) => ids(route)),
        async (form) => {
          const { status } = await send(form, tokenOf(form));
          expect([status < 500, form.path]).toEqual([true, form.path]);
        },
      ),
      { seed, numRuns: 2_000 },
    );
  });

  it("U+0000, which the database cannot be asked for, names nothing: neither what a form is about nor in its fields", async () => {
    const headers = { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" };
    const fields = (["freeze", "stepUpFor", "alert", "delivery", "identity", "iss", "sub", "answer"] as const).map(
      (name): [string, string] => [name, "a\0b"],
    );
    const seen: [string, boolean][] = [];
    for (const route of routesOf(createFormApp(t.service)))
      for (const id of ["\0", ids(route)[0] ?? ""])
        for (const who of ["admin", "ada"]) {
          const name = /:([a-z]+)/.exec(route)?.[1] ?? "id";
          const path = route.replace(`:${name}`, encodeURIComponent(id));
          const form = { route, method: "POST", path, params: { [name]: id }, fields, headers, who };
          seen.push([path, (await send(form, tokenOf(form))).status < 500]);
        }
    expect(seen.filter(([, isFine]) => !isFine)).toEqual([]);
  });
});
