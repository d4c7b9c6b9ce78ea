import { cpus, release, totalmem } from "node:os";
import { buildIfNeeded } from "@/scripts/build";
import type { Figure } from "./figure";
import { measureConsume, measureMint, measureStatus } from "./measure-api";
import { measureClick } from "./measure-click";
import { measurePage } from "./measure-page";
import { measureParked } from "./measure-parked";
import { measureRequirements } from "./measure-requirements";
import { type BenchStage, startBenchStage } from "./stage";

// Prints the table of docs/bench.md; with names (`npm run bench -- mint click`), only those rows. Each row has a stage of its own, so
// that none measures what another left behind. Everything runs on this machine and shares its cores: server, database and load.
const measures: Record<string, (stage: BenchStage) => Promise<Figure>> = {
  mint: measureMint,
  status: measureStatus,
  click: measureClick,
  consume: measureConsume,
  requirements: measureRequirements,
  parked: measureParked,
  page: measurePage,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in measures));
if (unknown.length > 0)
  throw new Error(`no such figure: ${unknown.join(", ")}; there are ${Object.keys(measures).join(", ")}`);

await buildIfNeeded();
let current: BenchStage | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    const stopped = current?.stop() ?? Promise.resolve();
    stopped.finally(() => process.exit(1)).catch(() => undefined);
  });
let isFirst = true;
for (const [name, measure] of Object.entries(measures)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const stage = await startBenchStage();
  current = stage;
  try {
    if (isFirst)
      process.stdout.write(
        `${await machine(stage)}\n\n| what | figure | baseline | ratio or bar |\n|---|---|---|---|\n`,
      );
    isFirst = false;
    const { name: title, value, baseline, ratio } = await measure(stage);
    process.stdout.write(`| ${title} | ${value} | ${baseline} | ${ratio} |\n`);
  } catch (error) {
    process.stderr.write(await stage.readLog());
    throw error;
  } finally {
    current = undefined;
    await stage.stop();
  }
}

async function machine(stage: BenchStage): Promise<string> {
  const { rows } = await stage.service.pool.query<{ server_version: string; fsync: string }>(
    "SELECT current_setting('server_version') AS server_version, current_setting('fsync') AS fsync",
  );
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version} (fsync ${rows[0]?.fsync}), ${process.platform} ${release().split("-")[0]}`;
}
