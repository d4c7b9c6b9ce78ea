import { localKeys } from "@countersign/mcp/jwks";
import { type KeyLookup, type ReceiptExpectation, type ReceiptVerdict, verifyReceipt } from "@countersign/mcp/receipt";
import type { Command } from "commander";
import { decodeJwt } from "jose";
import { judgeReceipt } from "@/lib/receipts/judge";
import { readCredentials } from "./credential-file";
import { claimedClaims, heldClaims, heldLines } from "./held-claims";
import { readText } from "./input-file";
import { CommandError, type Result } from "./output";
import { describeReceipt, refusalWords, revokedWords } from "./receipt-words";
import type { Run } from "./run";
import { withService } from "./service";

type Options = {
  audience?: string;
  issuer?: string;
  jwks?: string;
  credentials?: string;
  pinnedSubject?: true;
  passkeyRequired?: true;
  origin?: string;
};

/** What is compared with the receipt, and where each came from. */
type Pins = Pick<ReceiptExpectation, "credentials" | "pinned" | "passkey" | "origin"> & {
  issuer: string;
  audience: string;
  isAudienceClaimed: boolean;
};

/** `countersign verify-receipt`: whether a receipt is genuine, and what it says. */
export function addReceiptCommand(program: Command, run: Run): void {
  program
    .command("verify-receipt")
    .description("tell whether a receipt is genuine and what it proves; exit code 1 where it is not")
    .argument("<file>", "the receipt (a JWS in compact form); - reads standard input")
    .option("--audience <client>", "the MCP server that asked (cli_…); read from the receipt where left out")
    .option("--issuer <issuer>", "the service that signed; this deployment where left out")
    .option("--jwks <file>", "key set of that service; this deployment's own keys where left out")
    .option("--credentials <file>", "people's passkeys, as `users passkeys --json` prints them: any other is refused")
    .option(
      "--pinned-subject",
      "of these, only those of the very identity that was asked, not of one an admin has linked",
    )
    .option("--passkey-required", "refuse an accept that no passkey signed")
    .option("--origin <origin>", "where the page must have been, if a passkey signed")
    .action((file: string, options: Options) => run(() => verify(file, options)));
}

async function verify(file: string, options: Options): Promise<Result & { exitCode?: number }> {
  const jws = (await readText(file)).trim();
  const { credentials, pinnedSubject, origin, passkeyRequired } = options;
  if (pinnedSubject && credentials === undefined)
    throw new CommandError("bad_credentials", "--pinned-subject needs --credentials.");
  const pins = {
    audience: options.audience ?? claimedAudience(jws),
    isAudienceClaimed: options.audience === undefined,
    ...(credentials === undefined ? {} : { credentials: await readCredentials(credentials) }),
    ...(pinnedSubject ? { pinned: "subject" as const } : {}),
    ...(origin === undefined ? {} : { origin }),
    ...(passkeyRequired ? { passkey: "required" as const } : {}),
  };
  const keys = options.jwks === undefined ? undefined : await readKeys(options.jwks);
  const byKeySet = async (issuer: string, lookup: KeyLookup) => {
    const expected = { ...pins, issuer };
    return verdictOf(await verifyReceipt(jws, { ...expected, keys: lookup }), expected);
  };
  // With both named, no deployment is needed: an auditor can verify anywhere.
  if (keys && options.issuer !== undefined) return byKeySet(options.issuer, keys);
  return withService(async (service) => {
    const issuer = options.issuer ?? service.issuer;
    if (keys) return byKeySet(issuer, keys);
    const expected = { ...pins, issuer };
    const judged = await judgeReceipt(service, jws, expected);
    const { verdict } = judged;
    if (!verdict.ok || !("revokedAt" in judged)) return verdictOf(verdict, expected);
    const { standing, revokedAt } = judged;
    return revokedResult(verdict, { standing, revokedAt }, expected);
  });
}

type Genuine = Extract<ReceiptVerdict, { ok: true }>;
type Revoked = { standing: "before_revocation" | "unproven"; revokedAt: Date };

/**
 * Of a receipt by a key that this deployment has revoked: exit code 1 either way, since only its own date tells the two apart. Of an unproven
 * one `held` is what a passkey of the file signed, and everything else is `claimed`.
 */
export function revokedResult(
  verdict: Genuine,
  { standing, revokedAt }: Revoked,
  pins: Pins,
): Result & { exitCode: number } {
  const { kid, claims, passkey } = verdict;
  const { issuer, audience, credentials } = pins;
  const facts = { genuine: false, standing, keyRevokedAt: revokedAt.toISOString(), kid, issuer, audience };
  const isDated = standing === "before_revocation";
  const held = isDated ? undefined : heldClaims(claims, passkey);
  return {
    json: {
      ...facts,
      audienceFrom: audienceFrom(pins),
      passkey: isDated || held ? (passkey ?? null) : null,
      ...(isDated ? { claims } : { ...(held ? { held } : {}), claimed: claimedClaims(claims, passkey) }),
    },
    lines: [
      ...revokedWords(kid, standing, revokedAt, passkey),
      ...pinnedLines(pins),
      ...(isDated ? describeReceipt(claims, passkey, credentials) : heldLines(claims, passkey)),
    ],
    exitCode: 1,
  };
}

function verdictOf(verdict: ReceiptVerdict, pins: Pins): Result & { exitCode?: number } {
  const { issuer, audience, credentials } = pins;
  const common = { issuer, audience, audienceFrom: audienceFrom(pins) };
  if (verdict.ok) {
    const { kid, claims, passkey } = verdict;
    return {
      json: { genuine: true, standing: "genuine", kid, ...common, passkey: passkey ?? null, claims },
      lines: [
        `Genuine: signed with key ${kid}, and unchanged since.`,
        ...pinnedLines(pins),
        ...describeReceipt(claims, passkey, credentials),
      ],
    };
  }
  const { reason, kid, fault } = verdict;
  const why = refusalWords(reason, fault);
  const codes = { reason, ...(fault === undefined ? {} : { fault }) };
  return {
    json: {
      genuine: false,
      standing: "refused",
      ...codes,
      explanation: why,
      ...(kid === undefined ? {} : { kid }),
      ...common,
    },
    lines: [
      `NOT genuine: ${why} (${Object.values(codes).join(", ")}).`,
      ...pinnedLines(pins),
      "Nothing it says can be relied on.",
    ],
    exitCode: 1,
  };
}

const audienceFrom = ({ isAudienceClaimed }: Pins) => (isAudienceClaimed ? "receipt" : "argument");

function pinnedLines({ issuer, audience, isAudienceClaimed, passkey, credentials, pinned, origin }: Pins): string[] {
  return [
    `  issuer required    ${issuer}`,
    isAudienceClaimed
      ? `  audience           ${audience || "none"}, as the receipt itself says: it was not compared (--audience)`
      : `  audience required  ${audience}`,
    ...(passkey === undefined ? [] : ["  passkey required   for an accept"]),
    ...(credentials === undefined
      ? []
      : [
          `  passkeys allowed   ${credentials.length}, from the file${pinned === undefined ? "" : ", and of the identity asked alone"}`,
        ]),
    ...(origin === undefined ? [] : [`  page required at   ${origin}`]),
  ];
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
