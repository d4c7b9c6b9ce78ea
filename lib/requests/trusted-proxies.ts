import { BlockList, isIP } from "node:net";
import { z } from "zod";

/** `TRUSTED_PROXIES`: addresses and CIDR ranges, separated by commas or blanks; none where empty. */
export const trustedProxies = z
  .string()
  .default("")
  .transform((text, context) => {
    const list = new BlockList();
    for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
      const [address = "", prefix] = entry.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      const bits = prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix);
      if (isIP(address) === 0 || !Number.isInteger(bits) || bits < 0 || bits > (family === "ipv6" ? 128 : 32)) {
        context.addIssue({ code: "custom", message: `"${entry}" is neither an address nor a CIDR range` });
        return z.NEVER;
      }
      list.addSubnet(address, bits, family);
    }
    return list;
  });
