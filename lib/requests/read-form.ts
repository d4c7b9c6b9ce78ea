const formMaxBytes = 65_536;

/** The fields of a form posted as `application/x-www-form-urlencoded`, or undefined for any other type or a body over 64 KiB. */
export async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > formMaxBytes) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
