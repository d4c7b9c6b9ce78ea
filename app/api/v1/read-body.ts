import type { z } from "zod";
import { parseStrict } from "@/lib/json/parse-strict";
import { type FieldError, Problem } from "@/lib/problem";

/** `POST` bodies may be this large (section 6). */
const bodyMaxBytes = 131_072;
/** `arguments` may nest 32 deep, and lie two deep in the body. */
const bodyDepthMax = 34;

/**
 * The body as strict JSON of the schema's form; nothing is rounded, dropped or normalised on the way.
 * Errors: `unsupported_media_type`, `body_too_large`, `malformed_json`, `invalid_request`, and the codes of `parseStrict`.
 */
export async function readBody<T extends z.ZodType>(request: Request, schema: T): Promise<z.infer<T>> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Problem("unsupported_media_type");
  const parsed = parseStrict(await readText(request), { maxDepth: bodyDepthMax });
  if (!parsed.ok) {
    const { code, pointer, message } = parsed.fault;
    throw new Problem(code === "malformed" ? "malformed_json" : code, { errors: [{ pointer, message }] });
  }
  return validate(schema, parsed.value);
}

/**
 * Errors: `invalid_request` with each field by JSON pointer (RFC 6901); `unsupported_requirement` for a requirement that this version
 * does not know, which must not be mistaken for a slip of the pen (I13).
 */
export function validate<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const isUnsupported = issues.some(
    (issue) => issue.code === "unrecognized_keys" && issue.path.join() === "requirements",
  );
  throw new Problem(isUnsupported ? "unsupported_requirement" : "invalid_request", {
    errors: issues.slice(0, 20).flatMap(fieldErrors),
  });
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const pointer = issue.path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      pointer: `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      message: "is not a known field",
    }));
  // The library's own sentences may quote what was sent; ours and the fixed ones do not.
  return [{ pointer, message: issue.message }];
}

async function readText(request: Request): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readBytes(request));
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem("malformed_json", { detail: "The body is not UTF-8." }, { cause });
  }
}

/** With a length the HTTP parser reads no more than that, and reading at once is much faster; without, it is counted chunk by chunk. */
async function readBytes(request: Request): Promise<ArrayBuffer | Buffer> {
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > bodyMaxBytes) throw new Problem("body_too_large");
  if (length !== null) return request.arrayBuffer();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > bodyMaxBytes) throw new Problem("body_too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
