/** Where a request came from, as the history and the list of sessions name it. */
export type RequestSource = { address?: string | undefined; userAgent?: string | undefined };

/** The address that `TRUSTED_PROXIES` vouches for (the server has put it there), and the browser's own words, at most 300 characters. */
export function readSource(headers: Headers): RequestSource {
  return {
    address: headers.get("x-forwarded-for") ?? undefined,
    userAgent: headers.get("user-agent")?.slice(0, userAgentMax),
  };
}

const userAgentMax = 300;
