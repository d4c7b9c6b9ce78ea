import type { ApiClient } from "../api-client";
import type { Caller, StatusAnswer } from "../api-types";
import { isApprovalId } from "../approval-id";
import { CountersignError } from "../errors";
import { isSameCaller } from "./caller";
import { NotRun, toNotRun } from "./endings";

/**
 * Reads the approval that an echoed `requestState` names. The state is the approval id and nothing more: it came through the MCP
 * client, so it counts only if our own API key finds it and it belongs to this caller (S10, S30). What it is an approval *for* is
 * compared by `consume`. An unknown, a foreign and a malformed state are one and the same answer.
 * @throws NotRun `invalid_state`, or `unreachable` when it cannot be known
 */
export async function readState(api: ApiClient, state: unknown, caller: Caller): Promise<StatusAnswer> {
  if (!isApprovalId(state)) throw new NotRun("invalid_state");
  let answer: StatusAnswer;
  try {
    answer = await api.status(state);
  } catch (error) {
    if (error instanceof CountersignError && error.code === "not_found") throw new NotRun("invalid_state");
    throw toNotRun(error, state);
  }
  if (answer.id !== state || !isSameCaller(answer.caller, caller)) throw new NotRun("invalid_state");
  return answer;
}
