import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** What can make a connection: a new line here needs a reason as good as these. */
const reasons: Record<string, string> = {
  "lib/outbound/connect.ts": "the way out",
  "lib/outbound/request.ts": "goes through it",
  "lib/doctor/ask.ts": "the operator's own command asks the operator's own service",
  "lib/waits/listen.ts": "the socket to the operator's own database",
  "lib/traces/traces.ts": "the operator's own collector of traces",
  "app/passkey-question.ts": "runs in the browser",
  "app/a/[id]/approve-with-passkey.tsx": "runs in the browser",
};

const connecting = [
  /\bfetch\(/,
  /import (?:\w+|\* as \w+)(?:,[^;]*)? from "node:(?:https?|http2|net|tls|dgram)"/,
  /import \{[^;}]*\b(?:request|get|connect|createConnection|Socket|TLSSocket|createSocket)\b[^;}]*\} from "node:(?:https?|http2|net|tls|dgram)"/,
  /from "(?:undici|axios|got|node-fetch|openid-client|nodemailer|ws)"/,
  /from "@opentelemetry\/exporter/,
  /\brequire\(|\bimport\("(?:node:|undici)/,
];

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("generated"))
    .map((name) => `${folder}/${name}`);
}

it("nothing in the service connects to anything but by the guarded way out", () => {
  const found = [...sources("lib"), ...sources("app"), "server.ts", "middleware.ts"].filter((file) => {
    // What is imported as a type makes no connection.
    const text = readFileSync(path.join(root, file), "utf8")
      .replaceAll(/import type [^;]*;/g, "")
      .replaceAll(/\btype \w+(?: as \w+)?,? ?/g, "");
    return connecting.some((pattern) => pattern.test(text));
  });
  expect(found.filter((file) => !(file in reasons))).toEqual([]);
  expect(found).toEqual(expect.arrayContaining(["lib/outbound/connect.ts", "lib/outbound/request.ts"]));
});
