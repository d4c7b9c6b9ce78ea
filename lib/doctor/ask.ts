export type Answer = { status: number; headers: Headers; body: string };

/** Asks an address over HTTP as a stranger would; follows nothing. Throws a sentence that names the address where nothing answers. */
export async function ask(
  url: string,
  options: { headers?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      redirect: "manual",
      headers: options.headers ?? {},
      signal: AbortSignal.timeout(options.timeoutMs ?? 10_000),
    });
    return { status: response.status, headers: response.headers, body: await response.text() };
  } catch (cause) {
    throw new Error(`Nothing answers at ${url}: start the service, or name another address with --url.`, { cause });
  }
}

/** The object in an answer, or undefined where it is none: then something else than Countersign answered. */
export function objectIn({ body }: Answer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
