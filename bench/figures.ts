import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { gzipSync } from "node:zlib";
import { formFor } from "@/test/support/deciding";
import { consumeCall, jsonHeaders, mintBody, mintCall } from "./calls";
import { type Load, load, median, quantile, send } from "./load";
import type { BenchStage } from "./stage";

export type Figure = { name: string; value: string; against: string };

const rounds = 5;
const perRound = 1_500;
const lanes = 8;
const rate = ({ perSecond, p50Ms, p99Ms }: Load) =>
  `${Math.round(perSecond).toLocaleString("en")}/s (p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms)`;
const middle = (loads: Load[]): Load =>
  loads.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(loads.length / 2)] as Load;

/** Mint against the bare insert, in turns, so that a slow moment of the machine hits both. */
export async function mintFigure(stage: BenchStage): Promise<Figure> {
  const key = stage.keys[0] ?? "";
  const headers = { "content-type": "application/json" };
  const [bare, mint]: [Load[], Load[]] = [[], []];
  for (let round = -1; round < rounds; round += 1) {
    const a = await load(perRound, lanes, (i) => ({
      method: "POST",
      url: stage.bareUrl,
      headers,
      body: mintBody(stage, `r${round}-${i}`),
    }));
    const b = await load(perRound, lanes, (i) => mintCall(stage, key, `r${round}-${i}`));
    expectOnly(b, 201);
    // The first round only warms both up.
    if (round >= 0) [bare.push(a), mint.push(b)];
  }
  const ratio = median(mint.map((m, i) => m.perSecond / (bare[i]?.perSecond ?? Number.NaN)));
  return {
    name: "mint",
    value: rate(middle(mint)),
    against: `${ratio.toFixed(2)} × a bare Hono + pg insert of ${rate(middle(bare))}`,
  };
}

export async function statusFigure(stage: BenchStage): Promise<Figure> {
  const key = stage.keys[0] ?? "";
  const { id } = JSON.parse((await send(mintCall(stage, key, "status"))).text) as { id: string };
  const result = await load(5_000, lanes, () => ({
    method: "GET",
    url: `${stage.server.url}/api/v1/approvals/${id}`,
    headers: jsonHeaders(key),
  }));
  expectOnly(result, 200);
  return { name: "status poll", value: rate(result), against: "–" };
}

export async function consumeFigure(stage: BenchStage): Promise<Figure> {
  const ids: string[] = [];
  for (let i = 0; i < 300; i += 1) ids.push(await minted(stage));
  for (const id of ids) await click(stage, id);
  const result = await load(ids.length, lanes, (i) =>
    consumeCall(stage, stage.keys[1] ?? "", ids[i] ?? "", randomBytes(32).toString("base64url")),
  );
  expectOnly(result, 200);
  return { name: "consume", value: rate(result), against: "two signatures verified, one compare-and-set" };
}

/** From the moment the click is sent to the moment the waiting caller has its answer; page and API in one process. */
export async function clickFigure(stage: BenchStage): Promise<Figure> {
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true });
  for (let i = 0; i < 220; i += 1) {
    const id = await minted(stage);
    const answer = send(
      {
        method: "GET",
        url: `${stage.server.url}/api/v1/approvals/${id}?wait=30`,
        headers: jsonHeaders(stage.keys[1] ?? ""),
      },
      agent,
    ).then(({ text }) => ({ text, at: performance.now() }));
    const form = await decisionForm(stage, id);
    const clickedAt = performance.now();
    const clicked = postDecision(stage, id, form);
    const { text, at } = await answer;
    if (!text.includes('"accepted"')) throw new Error(text);
    await clicked;
    if (i >= 20) times.push(at - clickedAt);
  }
  agent.destroy();
  return {
    name: "click → caller",
    value: `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
    against: "bar: p50 5 ms, p99 25 ms",
  };
}

export async function parkedFigure(stage: BenchStage): Promise<Figure> {
  const keys = stage.keys.slice(2);
  const ids = await Promise.all(
    keys.map(
      async (key) => (JSON.parse((await send(mintCall(stage, key, stage.person.sub))).text) as { id: string }).id,
    ),
  );
  const before = rssMb(stage.server.pid);
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const waits = Array.from({ length: 5_000 }, (_, i) =>
    send(
      {
        method: "GET",
        url: `${stage.server.url}/api/v1/approvals/${ids[i % ids.length]}?wait=55`,
        headers: jsonHeaders(keys[i % keys.length] ?? ""),
      },
      agent,
    ),
  );
  await untilSteady(stage.server.pid);
  const after = rssMb(stage.server.pid);
  const releasedAt = performance.now();
  for (const id of ids) await click(stage, id);
  const answers = await Promise.all(waits);
  const accepted = answers.filter(({ text }) => text.includes('"accepted"')).length;
  return {
    name: "5,000 parked waits",
    value: `${Math.round(after - before)} MB over ${Math.round(before)} MB idle; ${accepted.toLocaleString("en")} released by ${ids.length} clicks in ${Math.round(performance.now() - releasedAt)} ms`,
    against: "bar: 200 MB over idle",
  };
}

export async function pageFigure(stage: BenchStage): Promise<Figure> {
  const id = await minted(stage);
  const { text } = await send({
    method: "GET",
    url: `${stage.server.url}/a/${id}`,
    headers: { cookie: stage.signedIn.cookie },
  });
  const sources = [
    ...new Set([...text.matchAll(/<script src="(\/_next\/[^"]+\.js)"(?! noModule)/g)].map((match) => match[1])),
  ];
  const scripts = await Promise.all(
    sources.map(
      async (source) => gzipSync((await send({ method: "GET", url: `${stage.server.url}${source}` })).text).length,
    ),
  );
  const kb = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`;
  const isWhole = ["p_42", "318", "a@example.com", "b@example.com"].every((value) => text.includes(value));
  return {
    name: "approval page",
    value: `${kb(scripts.reduce((a, b) => a + b, 0))} of script and ${kb(gzipSync(text).length)} of HTML, compressed; ${isWhole ? "complete without script" : "NOT complete without script"}`,
    against: "bar: 150 KB of script",
  };
}

async function minted(stage: BenchStage): Promise<string> {
  const { status, text } = await send(mintCall(stage, stage.keys[1] ?? "", stage.person.sub));
  if (status !== 201) throw new Error(text);
  return (JSON.parse(text) as { id: string }).id;
}

async function decisionForm(stage: BenchStage, id: string): Promise<string> {
  const { csrf, stamp, locale, renderedAt } = await formFor(stage.service, stage.signedIn.session, id, "accept");
  return new URLSearchParams({
    csrf,
    stamp,
    locale,
    renderedAt: String(renderedAt),
    read: "yes",
    decision: "accept",
  }).toString();
}

async function postDecision(stage: BenchStage, id: string, body: string): Promise<void> {
  const headers = {
    cookie: stage.signedIn.cookie,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded",
  };
  const { status, text } = await send({ method: "POST", url: `${stage.server.url}/a/${id}/decision`, headers, body });
  if (status !== 303) throw new Error(`the decision answered ${status}: ${text}`);
}

async function click(stage: BenchStage, id: string): Promise<void> {
  await postDecision(stage, id, await decisionForm(stage, id));
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Until the process's memory has not grown for two seconds. */
async function untilSteady(pid: number): Promise<void> {
  for (let last = 0, still = 0; still < 4; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = rssMb(pid);
    still = now > last + 1 ? 0 : still + 1;
    last = Math.max(last, now);
  }
}

function expectOnly(result: Load, status: number): void {
  if ([...result.statuses.keys()].some((seen) => seen !== status))
    throw new Error(`not all answers were ${status}: ${JSON.stringify([...result.statuses])}`);
}
