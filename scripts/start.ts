import path from "node:path";
import { buildIfNeeded } from "./build";

// One process from here on, so that a signal to it reaches the server.
process.chdir(path.resolve(import.meta.dirname, ".."));
await buildIfNeeded();
Object.assign(process.env, { NODE_ENV: process.env.NODE_ENV ?? "production" });
await import(path.resolve("dist/server.js"));
