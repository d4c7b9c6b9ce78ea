/** Tells whether `error` carries one of these codes (Node's `ENOENT`…, PostgreSQL's SQLSTATE). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code);
}
