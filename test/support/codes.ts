import { mintBody, type TestClient } from "./actors";

/** Status and problem code of an answer; of one that is no problem, its status and "ok". */
export async function codeOf(response: Response | Promise<Response>): Promise<[status: number, code: string]> {
  const answer = await response;
  const body = (await answer.json()) as { code?: string };
  return [answer.status, body.code ?? "ok"];
}

/** Consumes as the caller who asked with `mintBody`, and reads status and code. */
export function consumeCode(client: TestClient, person: { iss: string; sub: string }, id: string) {
  const { caller, action } = mintBody(person);
  const body = { caller, action, consumerToken: "A".repeat(43) };
  return codeOf(client.api("POST", `/approvals/${id}/consume`, body));
}
