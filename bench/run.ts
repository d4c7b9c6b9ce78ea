import { cpus, loadavg, release, totalmem } from "node:os";
import { buildIfNeeded } from "@/scripts/build";
import type { Figure } from "./figure";
import { measureConsume, measureKitMint, measureMint, measureStatus } from "./measure-api";
import { measureClick } from "./measure-click";
import { measurePage } from "./measure-page";
import { measureParked } from "./measure-parked";
import { measurePeer } from "./measure-peers";
import { measureRequirements } from "./measure-requirements";
import { measureWebhook } from "./measure-webhook";
import { type BenchStage, startBenchStage } from "./stage";

// Prints the tables of docs/bench.md; with names (`npm run bench -- mint click`, `-- peers`), only those rows. Each has a stage of its
// own, so that none measures what another left behind. Everything runs on this machine and shares its cores: server, database and load.
// What could not be measured is a row that says so, and the exit code is 1.
const ownFigures = {
  mint: measureMint,
  kit: measureKitMint,
  status: measureStatus,
  click: measureClick,
  consume: measureConsume,
  webhook: measureWebhook,
  requirements: measureRequirements,
  parked: measureParked,
  page: measurePage,
};
const peerFigures = {
  ciba: measurePeer("ciba"),
  dbos: measurePeer("dbos"),
  restate: measurePeer("restate"),
  langgraph: measurePeer("langgraph"),
};
const measures: Record<string, (stage: BenchStage) => Promise<Figure | Figure[]>> = { ...ownFigures, ...peerFigures };

const names = process.argv.slice(2).flatMap((name) => (name === "peers" ? Object.keys(peerFigures) : [name]));
const unknown = names.filter((name) => !Object.hasOwn(measures, name));
if (unknown.length > 0)
  throw new Error(`no such figure: ${unknown.join(", ")}; there are ${Object.keys(measures).join(", ")}, and peers`);

await buildIfNeeded();
let current: Promise<BenchStage> | undefined;
let isEnding = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    isEnding = true;
    // A stage that is still being set up is waited for, so that nothing of it is left running.
    const stopped = current?.then((stage) => stage.stop()) ?? Promise.resolve();
    stopped.finally(() => process.exit(1)).catch(() => undefined);
  });
let isFirst = true;
for (const [name, measure] of Object.entries(measures)) {
  if (isEnding || (names.length > 0 && !names.includes(name))) continue;
  current = startBenchStage();
  const stage = await current;
  try {
    if (isFirst) print(`${await machine(stage)}\n\n| what | figure | baseline | ratio or bar |\n|---|---|---|---|`);
    isFirst = false;
    for (const row of [await measure(stage)].flat())
      print(`| ${row.name} | ${row.value} | ${row.baseline} | ${row.ratio} |`);
  } catch (error) {
    process.exitCode = 1;
    if (isEnding) continue;
    print(`| ${name} | NOT MEASURED: ${inOneLine(error)} | – | – |`);
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n${await stage.readLogs()}`);
  } finally {
    current = undefined;
    await stage.stop();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function inOneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 300);
}

async function machine(stage: BenchStage): Promise<string> {
  const { rows } = await stage.service.pool.query<{ server_version: string; fsync: string }>(
    "SELECT current_setting('server_version') AS server_version, current_setting('fsync') AS fsync",
  );
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version} (fsync ${rows[0]?.fsync}), ${process.platform} ${release().split("-")[0]}; load average ${loadavg()[0]?.toFixed(1)} at the start`;
}
