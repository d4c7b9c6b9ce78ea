import { canonicalTarget } from "./canonical";
import { type Surface, surfaces } from "./parse";

export type Route = {
  /** What handles the request: the machine API's application, the pages (forms among them), or the metrics. */
  handler: "machine" | "pages" | "metrics";
  /** The target to handle instead of the one that came, in its one spelling. */
  target: string;
  path: string;
};

/**
 * Where a request goes on a listener with these surfaces. What is not on it, what nobody has, and what is not spelled plainly become one
 * and the same request before anything handles them, so that their answers cannot differ (decision 0023).
 */
export function routeTarget(target: string, listener: ReadonlySet<Surface>, options: { dev?: boolean } = {}): Route {
  const canonical = canonicalTarget(target) ?? respelled(target, options);
  const path = canonical?.split("?", 1)[0] ?? "";
  const place = canonical === undefined ? undefined : placeOf(path, options);
  if (canonical === undefined || !place?.surfaces.some((surface) => listener.has(surface))) return unknownOn(listener);
  return { handler: place.handler, target: canonical, path };
}

/** Unknown is answered by the pages where a browser comes, else by the machine API. */
export function unknownOn(listener: ReadonlySet<Surface>): Route & { handler: "machine" | "pages" } {
  return { handler: hasPages(listener) ? "pages" : "machine", target: unknownPath, path: unknownPath };
}

const unknownPath = "/unknown";

/** Whether a listener with these surfaces has pages of any kind. */
export function hasPages(listener: ReadonlySet<Surface>): boolean {
  return browsed.some((surface) => listener.has(surface));
}

/** What a browser comes to: a person signs in on each of them, with the same cookie. */
const browsed: readonly Surface[] = ["pages", "admin", "audit"];

/** An id that is not spelled like one is an id that is not there (I2). Next's development server names its files as it likes. */
function respelled(target: string, { dev = false }: { dev?: boolean }): string | undefined {
  if (dev && /^\/(?:_next|__nextjs)[^#\\]*$/.test(target)) return target;
  return /^\/a\/[^/]/.test(target) ? "/a/malformed" : undefined;
}

type Place = { handler: Route["handler"]; surfaces: readonly Surface[] };

const exactly: Record<string, Place> = {
  "/": { handler: "pages", surfaces: ["pages"] },
  "/icon.svg": { handler: "pages", surfaces: browsed },
  "/locale": { handler: "pages", surfaces: browsed },
  "/metrics": { handler: "metrics", surfaces: ["metrics"] },
  "/healthz": { handler: "machine", surfaces },
  "/readyz": { handler: "machine", surfaces },
};

/** Each with everything below it. */
const below: readonly (Place & { path: string })[] = [
  { path: "/a", handler: "pages", surfaces: ["pages"] },
  { path: "/inbox", handler: "pages", surfaces: ["pages"] },
  { path: "/account", handler: "pages", surfaces: browsed },
  { path: "/signin", handler: "pages", surfaces: browsed },
  { path: "/signout", handler: "pages", surfaces: browsed },
  { path: "/api/auth", handler: "pages", surfaces: browsed },
  { path: "/_next/static", handler: "pages", surfaces: browsed },
  { path: "/admin", handler: "pages", surfaces: ["admin"] },
  { path: "/audit", handler: "pages", surfaces: ["audit"] },
  { path: "/api/v1", handler: "machine", surfaces: ["api"] },
  { path: "/.well-known", handler: "machine", surfaces: ["pages", "api"] },
];

function placeOf(path: string, { dev = false }: { dev?: boolean }): Place | undefined {
  if (dev && /^\/(?:_next|__nextjs)/.test(path)) return { handler: "pages", surfaces: browsed };
  if (Object.hasOwn(exactly, path)) return exactly[path];
  return below.find((place) => path === place.path || path.startsWith(`${place.path}/`));
}
