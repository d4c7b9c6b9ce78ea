import { writeFileSync } from "node:fs";
import { buildVectors } from "./vectors/build";

// Writes docs/vectors/*.json. Run by hand after a change of scripts/vectors; a test holds the files equal to what the code computes.
//
//   node --import tsx scripts/generate-vectors.ts
for (const [name, text] of Object.entries(buildVectors())) {
  writeFileSync(new URL(`../docs/vectors/${name}`, import.meta.url), text);
}
