import { randomBytes } from "node:crypto";
import type { Sent } from "./send";

/** How one peer is asked to make something durable that waits for a human, and what then happens to it. */
export type Peer = {
  /** Its name and version, as in the table. */
  title: string;
  /** Relative to this folder. */
  script: string;
  env?: Record<string, string>;
  create: { status: number; send(url: string, i: number, body: string): Sent; id(answer: string, i: number): string };
  decide: { status: number; send(url: string, id: string): Sent };
  /** How the caller learns the decision: parked before the click, or asking after it. */
  learn: { how: "parked" | "asks"; expected: string; send(url: string, id: string): Sent };
};

export type PeerName = "ciba" | "dbos" | "restate" | "langgraph";

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const idIn = (answer: string) => (JSON.parse(answer) as { id: string }).id;

/** Behind `peers/front.mts`, which answers as the bare server does. */
const fronted: Pick<Peer, "create" | "decide" | "learn"> = {
  create: {
    status: 201,
    send: (url, _i, body) => ({ method: "POST", url: `${url}/`, headers: json, body }),
    id: idIn,
  },
  decide: {
    status: 303,
    send: (url, id) => ({ method: "POST", url: `${url}/${id}/decision`, headers: form, body: "decision=accept" }),
  },
  learn: { how: "parked", expected: '"accept"', send: (url, id) => ({ method: "GET", url: `${url}/${id}/wait` }) },
};

const secret = randomBytes(32).toString("base64url");
const withSecret = { ...form, authorization: `Basic ${Buffer.from(`bench:${secret}`).toString("base64")}` };
const formText = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

const ciba: Peer = {
  title: "oidc-provider 9.13.3 CIBA",
  script: "peers/ciba.mts",
  env: { CLIENT_SECRET: secret },
  create: {
    status: 200,
    send: (url, i, body) => ({
      method: "POST",
      url: `${url}/backchannel`,
      headers: withSecret,
      // The action goes where CIBA has a place for it (FAPI: CIBA, request_context).
      body: formText({
        scope: "openid",
        login_hint: `person-${i}`,
        binding_message: "Delete project Apollo",
        requested_expiry: "3600",
        request_context: body,
      }),
    }),
    id: (answer) => (JSON.parse(answer) as { auth_req_id: string }).auth_req_id,
  },
  decide: fronted.decide,
  learn: {
    how: "asks",
    expected: '"id_token"',
    send: (url, id) => ({
      method: "POST",
      url: `${url}/token`,
      headers: withSecret,
      body: formText({ grant_type: "urn:openid:params:grant-type:ciba", auth_req_id: id }),
    }),
  },
};

/** The key of a workflow is its caller's to choose. */
const workflowAt = (url: string, key: string) => `${url}/approval/${key}`;

const restate: Peer = {
  title: "Restate 1.7.12",
  script: "peers/restate.mts",
  create: {
    status: 202,
    send: (url, i, body) => ({ method: "POST", url: `${workflowAt(url, `key-${i}`)}/run/send`, headers: json, body }),
    id: (_answer, i) => `key-${i}`,
  },
  decide: {
    status: 200,
    send: (url, id) => ({ method: "POST", url: `${workflowAt(url, id)}/decide`, headers: json, body: '"accept"' }),
  },
  learn: {
    how: "parked",
    expected: '"accept"',
    send: (url, id) => ({ method: "GET", url: `${url}/restate/workflow/approval/${id}/attach` }),
  },
};

export const peers: Record<PeerName, Peer> = {
  ciba,
  dbos: { title: "DBOS 5.3.0", script: "peers/dbos.mts", ...fronted },
  restate,
  langgraph: { title: "LangGraph 1.7.3", script: "peers/langgraph.mts", ...fronted },
};
