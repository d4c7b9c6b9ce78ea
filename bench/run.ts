import { cpus, release, totalmem } from "node:os";
import { clickFigure, consumeFigure, mintFigure, pageFigure, parkedFigure, statusFigure } from "./figures";
import { startBenchStage } from "./stage";

// Prints the table of docs/bench.md. Everything runs on this machine and shares its cores: server, database and load.
const stage = await startBenchStage();
try {
  const { rows } = await stage.service.pool.query<{ server_version: string }>("SHOW server_version");
  process.stdout.write(
    `Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release().split("-")[0]}\n\n`,
  );
  process.stdout.write("| what | figure | against |\n|---|---|---|\n");
  for (const measure of [mintFigure, statusFigure, clickFigure, consumeFigure, pageFigure, parkedFigure]) {
    const { name, value, against } = await measure(stage);
    process.stdout.write(`| ${name} | ${value} | ${against} |\n`);
  }
} finally {
  await stage.stop();
}
