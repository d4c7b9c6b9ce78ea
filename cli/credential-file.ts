import { type PinnedCredential, pinnedCredentialSchema } from "@countersign/mcp/pinned-credential";
import { z } from "zod";
import { readText } from "./input-file";
import { CommandError } from "./output";

/**
 * People's passkeys from a file, as `users passkeys --json` prints them, or a bare list of them. Errors: `bad_credentials`, which says where
 * the first fault is.
 */
export async function readCredentials(file: string): Promise<PinnedCredential[]> {
  const text = await readText(file);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new CommandError("bad_credentials", `${file} is not JSON.`);
  }
  const { data, error } = credentialFileSchema.safeParse(json);
  if (data !== undefined) return data;
  const place = error.issues[0]?.path.join(".") ?? "";
  const where = place === "" ? "" : `; the first fault is at ${place}`;
  throw new CommandError("bad_credentials", `${file} is not a list of { iss, sub, credentialId, publicKey }${where}.`);
}

const credentialFileSchema = z
  .union([z.array(z.unknown()), z.looseObject({ credentials: z.array(z.unknown()) })])
  .transform((file) => (Array.isArray(file) ? file : file.credentials))
  .pipe(z.array(pinnedCredentialSchema));
