import path from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;
const alias = [
  { find: /^@\//, replacement: `${root}/` },
  { find: /^@countersign\/mcp\/(.*)$/, replacement: path.join(root, "sdk/src/$1.ts") },
  { find: /^@countersign\/mcp$/, replacement: path.join(root, "sdk/src/main.ts") },
];
const shared = { resolve: { alias } };
const setupFiles = ["test/support/fail-on-console.ts"];

export default defineConfig({
  ...shared,
  test: {
    reporters: ["default", "./test/support/reporter.ts"],
    projects: [
      {
        ...shared,
        test: { name: "unit", include: ["test/unit/**/*.test.ts"], setupFiles, sequence: { groupOrder: 0 } },
      },
      {
        ...shared,
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          setupFiles,
          globalSetup: ["test/support/cluster.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/cluster.ts", "test/support/browser-ready.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      // Last: it reads what all the others have logged.
      {
        ...shared,
        test: { name: "logs", include: ["test/logs/**/*.test.ts"], maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
