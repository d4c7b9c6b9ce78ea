import { admitTarget } from "./admit";
import { OutboundError } from "./error";
import type { OutboundPolicy } from "./policy";
import { type Resolve, resolveHost } from "./resolve";
import { targetOf } from "./target";
import { withDeadline } from "./with-deadline";

/**
 * Whether this service may call a URL now: undefined, or the sentence that says why not and names the setting that allows it. For the
 * moment in which somebody enters the URL; it binds nothing, each call is judged again. Takes at most 5 s.
 */
export async function judgeOutbound(
  policy: OutboundPolicy,
  url: string,
  options: { resolve?: Resolve } = {},
): Promise<string | undefined> {
  try {
    const target = targetOf(url);
    await withDeadline(judgeTimeoutMs, () => admitTarget(policy, target, options.resolve ?? resolveHost));
    return undefined;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
}

const judgeTimeoutMs = 5_000;
