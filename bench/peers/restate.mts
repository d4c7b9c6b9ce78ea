import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowContext, WorkflowSharedContext } from "@restatedev/restate-sdk";
import { announce, setting } from "./front.mts";

// The Restate server as its package ships it, with its own storage (a log that is synced, in a throw-away folder), and a workflow that
// waits for a durable promise, in this process. The load goes to the server's own HTTP ingress; two processes, and both count.

// The SDK takes from Node 22 what Node 20 lacks.
Promise.withResolvers ??= function withResolvers<T>() {
  let resolve: PromiseWithResolvers<T>["resolve"] = () => {};
  let reject: PromiseWithResolvers<T>["reject"] = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
};
const { createEndpointHandler, workflow } = await import("@restatedev/restate-sdk");

const approval = workflow({
  name: "approval",
  handlers: {
    run: async (ctx: WorkflowContext, _body: unknown) => ({ decision: await ctx.promise<string>("decision") }),
    decide: (ctx: WorkflowSharedContext, decision: string) => ctx.promise<string>("decision").resolve(decision),
  },
});
const services = createHttp2Server(createEndpointHandler({ services: [approval] }));
services.listen(0, "127.0.0.1");
await once(services, "listening");
const { port: servicesPort } = services.address() as AddressInfo;

const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
const child = spawn(binary(), ["--listen-mode", "tcp", "--bind-ip", "127.0.0.1", "--no-logo"], {
  cwd: setting("PEER_DATA_DIR"),
  env: {
    ...process.env,
    RESTATE_BASE_DIR: path.join(setting("PEER_DATA_DIR"), "restate"),
    RESTATE_NODE_NAME: "bench",
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_FILTER: "error",
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
  },
  // stdout is for the line that says where it listens.
  stdio: ["ignore", 2, 2],
});
child.once("exit", (code) => {
  process.stderr.write(`restate-server ended with ${code}\n`);
  process.exit(1);
});
process.once("SIGTERM", () => {
  child.removeAllListeners("exit");
  child.once("exit", () => process.exit(0));
  child.kill("SIGTERM");
});
await register();
announce(`http://127.0.0.1:${ingress}`, [process.pid, child.pid ?? 0]);

/** Tells the server where the workflow lives; it may not be listening yet. */
async function register(): Promise<void> {
  const body = JSON.stringify({ uri: `http://127.0.0.1:${servicesPort}` });
  const headers = { "content-type": "application/json" };
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, { method: "POST", headers, body }).catch(
      () => undefined,
    );
    if (answer?.ok) return;
    await delay(100);
  }
  throw new Error("the Restate server did not register the workflow within 30 s");
}

function binary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const file = path.join(import.meta.dirname, "node_modules", name, "bin/restate-server");
  if (!existsSync(file)) throw new Error(`${name} is not installed: Restate ships no server for this machine`);
  return file;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
