import { localKeys } from "@countersign/mcp/jwks";
import { type KeyLookup, type ReceiptVerdict, verifyReceipt } from "@countersign/mcp/receipt";
import type { Command } from "commander";
import { decodeJwt } from "jose";
import { readText } from "./input-file";
import { CommandError, type Result } from "./output";
import { describeReceipt, refusalWords } from "./receipt-words";
import type { Run } from "./run";
import { withService } from "./service";

type Options = { audience?: string; issuer?: string; jwks?: string };
type Pins = { issuer: string; audience: string; isAudienceClaimed: boolean };

/** `countersign verify-receipt`: whether a receipt is genuine, and what it says. */
export function addReceiptCommand(program: Command, run: Run): void {
  program
    .command("verify-receipt")
    .description("tell whether a receipt is genuine and what it proves; exit code 1 where it is not")
    .argument("<file>", "the receipt (a JWS in compact form); - reads standard input")
    .option("--audience <client>", "the MCP server that asked (cli_…); read from the receipt where left out")
    .option("--issuer <issuer>", "the service that signed; this deployment where left out")
    .option("--jwks <file>", "key set of that service; this deployment's own keys where left out")
    .action((file: string, options: Options) => run(() => verify(file, options)));
}

async function verify(file: string, options: Options): Promise<Result & { exitCode?: number }> {
  const jws = (await readText(file)).trim();
  const audience = options.audience ?? claimedAudience(jws);
  const isAudienceClaimed = options.audience === undefined;
  const keys = options.jwks === undefined ? undefined : await readKeys(options.jwks);
  const judge = async (issuer: string, lookup: KeyLookup) => {
    const pins = { issuer, audience, isAudienceClaimed };
    return verdictOf(await verifyReceipt(jws, { issuer, audience, keys: lookup }), pins);
  };
  // With both named, no deployment is needed: an auditor can verify anywhere.
  if (keys && options.issuer !== undefined) return judge(options.issuer, keys);
  return withService((service) => judge(options.issuer ?? service.issuer, keys ?? ((kid) => service.keys.find(kid))));
}

function verdictOf(verdict: ReceiptVerdict, pins: Pins): Result & { exitCode?: number } {
  const { issuer, audience } = pins;
  const audienceFrom = pins.isAudienceClaimed ? "receipt" : "argument";
  const pinned = [
    `  issuer required    ${issuer}`,
    pins.isAudienceClaimed
      ? `  audience           ${audience || "none"}, as the receipt itself says: it was not compared (--audience)`
      : `  audience required  ${audience}`,
  ];
  const common = { issuer, audience, audienceFrom };
  if (verdict.ok)
    return {
      json: { genuine: true, kid: verdict.kid, ...common, claims: verdict.claims },
      lines: [
        `Genuine: signed with key ${verdict.kid}, and unchanged since.`,
        ...pinned,
        ...describeReceipt(verdict.claims),
      ],
    };
  const why = refusalWords(verdict.reason);
  const { reason, kid } = verdict;
  return {
    json: { genuine: false, reason, explanation: why, ...(kid === undefined ? {} : { kid }), ...common },
    lines: [`NOT genuine: ${why} (${reason}).`, ...pinned, "Nothing it says can be relied on."],
    exitCode: 1,
  };
}

/** What the receipt says of itself, before anything is verified; empty where it cannot be read. */
function claimedAudience(jws: string): string {
  try {
    const { aud } = decodeJwt(jws);
    return typeof aud === "string" ? aud : "";
  } catch {
    return "";
  }
}

async function readKeys(file: string): Promise<KeyLookup> {
  const text = await readText(file);
  try {
    return await localKeys(JSON.parse(text));
  } catch {
    throw new CommandError("bad_key_set", `${file} is not a JSON Web Key Set.`);
  }
}
