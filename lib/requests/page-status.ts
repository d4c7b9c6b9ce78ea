import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";

const slot = Symbol.for("countersign.page-status");
type Chosen = { status?: number };

/** Held once for both bundles of the process: the server runs the page inside it, the page writes to it. */
function storage(): AsyncLocalStorage<Chosen> {
  const holder = globalThis as { [slot]?: AsyncLocalStorage<Chosen> };
  holder[slot] ??= new AsyncLocalStorage();
  return holder[slot];
}

/**
 * Lets the page that `work` renders choose its HTTP status. Next's own `notFound()` renders nothing without JavaScript, and its
 * `redirect()` answers 307, where the contract says 404 with a page and 303 (decision 0010).
 */
export function withPageStatus<T>(response: ServerResponse, work: () => T): T {
  const chosen: Chosen = {};
  const writeHead = response.writeHead;
  response.writeHead = function (this: ServerResponse, status: number, ...rest: unknown[]) {
    return Reflect.apply(writeHead, this, [chosen.status ?? status, ...rest]) as ServerResponse;
  } as typeof response.writeHead;
  return storage().run(chosen, work);
}

/** To be called by a page before anything of it is sent: pages here have nothing that streams. */
export function setPageStatus(status: 303 | 404 | 503): void {
  const chosen = storage().getStore();
  if (!chosen) throw new Error("pages are served by server.ts");
  chosen.status = status;
}
