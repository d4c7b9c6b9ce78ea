import { createHash, randomBytes } from "node:crypto";
import { canonicalJson } from "@countersign/mcp";

export type Change = { name: string; from: string | undefined; to: string };
export type Plan = { id: string; basedOn: number; changes: readonly Change[] };

/** The state that plans are about; `version` counts its changes, `applied` lists each plan that was really applied. */
export type Settings = {
  version(): number;
  all(): Readonly<Record<string, string>>;
  /** Works out what would change, and keeps it: a plan never changes afterwards. */
  plan(wanted: Readonly<Record<string, string>>): Plan;
  find(planId: string): Plan | undefined;
  apply(plan: Plan): void;
  applied: string[];
};

export function openSettings(): Settings {
  const values: Record<string, string> = { replicas: "2", region: "eu-central", log_level: "info" };
  const plans = new Map<string, Plan>();
  const applied: string[] = [];
  // A plan made for other settings is another plan, though it says the same: an approval of it must not be found again here.
  const store = randomBytes(8).toString("hex");
  let version = 1;
  return {
    version: () => version,
    all: () => ({ ...values }),
    plan(wanted) {
      const changes = Object.entries(wanted)
        .map(([name, to]) => ({ name, from: values[name], to }))
        .filter(({ from, to }) => from !== to);
      const plan = { id: idOf([store, version], changes), basedOn: version, changes };
      plans.set(plan.id, plan);
      return plan;
    },
    find: (planId) => plans.get(planId),
    apply({ id, changes }) {
      for (const { name, to } of changes) values[name] = to;
      version += 1;
      applied.push(id);
    },
    applied,
  };
}

/** A digest of the plan's content: whoever approves the id has approved this diff and no other, whatever the store says later. */
function idOf(state: [string, number], changes: readonly Change[]): string {
  const content = canonicalJson([state, changes.map(({ name, from = null, to }) => [name, from, to])]);
  return `plan_${createHash("sha256").update(content).digest("hex").slice(0, 32)}`;
}
