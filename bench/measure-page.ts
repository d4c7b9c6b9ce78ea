import { gunzipSync, gzipSync } from "node:zlib";
import { argumentValues, mintOne } from "./calls";
import type { Figure } from "./figure";
import { type Answer, send } from "./send";
import { at, type BenchStage } from "./stage";

/** What a browser loads for the page of an approval, compressed, and whether the page is whole without its scripts. */
export async function measurePage(stage: BenchStage): Promise<Figure> {
  const person = at(stage.people, 0);
  const id = await mintOne(at(stage.clients, 1), person);
  const page = await get(`${stage.server.url}/a/${id}`, { cookie: person.cookie });
  const html = textOf(page);
  // A browser that runs modules does not load a script marked noModule.
  const tags = [...html.matchAll(/<script\b[^>]*\bsrc="([^"]+)"[^>]*>/g)].filter(([tag]) => !/\bnomodule\b/i.test(tag));
  const sources = [...new Set(tags.map(([, source]) => source ?? ""))];
  const scripts = await Promise.all(sources.map((source) => get(new URL(source, stage.server.url).href)));
  const unpacked = scripts.filter((script) => script.headers["content-encoding"] !== "gzip").length;
  const withoutScript = html.replaceAll(/<script\b[^>]*>.*?<\/script>/gs, "");
  const isWhole =
    argumentValues.every((value) => withoutScript.includes(value)) && /<form\b[^>]*\/decision"/.test(withoutScript);
  return {
    name: "approval page",
    value: `${kb(scripts)} of script in ${scripts.length} files, ${kb([page])} of HTML, gzip${unpacked > 0 ? ` (${unpacked} of them packed here, the server sent them plain)` : ""}; ${isWhole ? "every argument and the form stand in the HTML" : "NOT whole without script"}`,
    baseline: "–",
    ratio: "bar: 150 KB of script, whole without",
  };
}

async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await send({ method: "GET", url, headers: { ...headers, "accept-encoding": "gzip" } });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return answer;
}

const textOf = ({ headers, bytes }: Answer) =>
  (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();

const packedLength = ({ headers, bytes }: Answer) =>
  headers["content-encoding"] === "gzip" ? bytes.length : gzipSync(bytes).length;

const kb = (answers: Answer[]) =>
  `${Math.round(answers.reduce((sum, answer) => sum + packedLength(answer), 0) / 1024)} KB`;
