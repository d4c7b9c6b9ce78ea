#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { register } from "tsx/esm/api";

// The command runs from the sources, so that it works right after `npm ci`.
register({ tsconfig: fileURLToPath(new URL("../tsconfig.json", import.meta.url)) });
const { ensureGenerated } = await import("../scripts/generate.ts");
ensureGenerated();
await import("./main.ts");
