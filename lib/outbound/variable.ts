import { z } from "zod";
import { parseOutboundAllow } from "./policy";

/** `OUTBOUND_ALLOW` as configuration reads it; unset, only public https hosts are called. */
export const outboundAllow = z
  .string()
  .default("")
  .transform((text, context) => {
    const { policy, faults } = parseOutboundAllow(text);
    for (const message of faults) context.addIssue({ code: "custom", message });
    return policy;
  });
