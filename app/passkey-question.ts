/** What the routes for passkeys answer the scripts of the pages: a question for the authenticator, or where to go instead. */
export type PasskeyAnswer<Question> = { question?: Question; goTo?: string; fault?: string };

/** Posts a form as the page would; undefined where it was not accepted. Errors: those of `fetch`. */
export async function postFields<Question>(
  path: string,
  fields: Record<string, string>,
): Promise<PasskeyAnswer<Question> | undefined> {
  const response = await fetch(path, { method: "POST", body: new URLSearchParams(fields) });
  // Signed out meanwhile, or the form is stale.
  if (response.redirected || !response.ok) return undefined;
  return (await response.json()) as PasskeyAnswer<Question>;
}
