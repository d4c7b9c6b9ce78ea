/** Idle and absolute limits of a session (section 8). */
export const idleSeconds = 8 * 3600;
export const absoluteSeconds = 7 * 24 * 3600;

/** What the encrypted cookie carries: who signed in, how and when. Nothing in the database can change it (I17). */
export type SessionClaims = {
  sid: string;
  userId: string;
  iss: string;
  sub: string;
  /** Seconds since the epoch (`auth_time` of OpenID Connect). */
  authTime: number;
  /** RFC 8176 values, such as `pwd`. */
  amr: string[];
  /** Seconds since the epoch: when the session began; a step-up does not move it. */
  startedAt: number;
  /** What the newest step-up was for: an approval's id, or the account. */
  stepUpFor?: string;
  /** The newest sign-in or step-up was by a passkey of ours; what a provider says in `amr` is not that. */
  byPasskey?: true;
};

/** A session that holds now, with what the pages show of its user. */
export type PersonSession = SessionClaims & {
  /** What the pages call the account: the address of a local one, else what the provider calls it. */
  account: string;
  name: string;
  roles: string[];
};

/** How old a sign-in may be for what changes an account: credentials, links, freezes. */
export const recentSeconds = 300;

/** Whether somebody signed in within `recentSeconds` before `now` (the database's clock). */
export function isRecent(session: SessionClaims, now: Date): boolean {
  return session.authTime >= now.getTime() / 1000 - recentSeconds;
}

export function sessionCookieName(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? "__Host-countersign.session" : "countersign.session";
}

/** How the session cookie is set: host-only, not for scripts, not sent with cross-site requests but top-level navigation. */
export function sessionCookieOptions(publicUrl: string) {
  return { httpOnly: true, sameSite: "lax", path: "/", secure: publicUrl.startsWith("https:") } as const;
}
