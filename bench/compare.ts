import { type Figure, ms, perSecond, times } from "./figure";
import { type Load, load, median, quantile } from "./load";
import { processorMs } from "./process-usage";
import type { Sent } from "./send";

/** One of the two servers under the same load: `make` is given numbers that never repeat. */
export type Side = { pids: readonly number[]; status: number; make(i: number): Sent };
type Measured = Load & { processorMsEach: number };

const lanes = 8;

/**
 * Loads both servers in turns, eight requests at a time, the first of each pair changing from round to round, so that a slow moment of
 * the machine hits both. The first two rounds only warm up. The ratio is the median of the rounds' ratios.
 */
export async function compare(
  name: string,
  options: { rounds: number; perRound: number; bar?: string; subject: Side; baseline: Side },
): Promise<Figure> {
  const { rounds, perRound, bar } = options;
  const subject: Measured[] = [];
  const baseline: Measured[] = [];
  for (let round = 0; round < rounds + 2; round += 1) {
    const turns = [
      () => measure(options.subject, round, perRound, subject),
      () => measure(options.baseline, round, perRound, baseline),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const [ours, theirs] = [subject.slice(2), baseline.slice(2)];
  const ratio = median(ours.map((load, i) => load.perSecond / (theirs[i]?.perSecond ?? Number.NaN)));
  return {
    name,
    value: describe(ours),
    baseline: describe(theirs),
    ratio: bar === undefined ? times(ratio) : `${times(ratio)}; bar: ${bar}`,
  };
}

/** How many numbers a side of `compare` is asked for. */
export const numbersFor = (rounds: number, perRound: number): number => (rounds + 2) * perRound;

async function measure(side: Side, round: number, perRound: number, into: Measured[]): Promise<void> {
  const before = processorMsOf(side);
  const result = await load(perRound, lanes, side.status, (i) => side.make(round * perRound + i));
  into.push({ ...result, processorMsEach: (processorMsOf(side) - before) / perRound });
}

const processorMsOf = ({ pids }: Side) => pids.reduce((sum, pid) => sum + processorMs(pid), 0);

function describe(loads: Measured[]): string {
  const all = loads.flatMap(({ timesMs }) => timesMs);
  return `${perSecond(median(loads.map((load) => load.perSecond)))}, p50 ${ms(quantile(all, 0.5))}, p99 ${ms(quantile(all, 0.99))}, processor ${median(loads.map((load) => load.processorMsEach)).toFixed(2)} ms each`;
}
