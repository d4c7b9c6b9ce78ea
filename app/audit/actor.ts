import { z } from "zod";

const schema = z.object({
  kind: z.string(),
  sub: z.string().optional(),
  iss: z.string().optional(),
  keyId: z.string().optional(),
  via: z.string().optional(),
  userId: z.string().optional(),
});

/** Who did it, in one line. */
export function actorOf(actor: unknown): string {
  const parsed = schema.safeParse(actor).data;
  if (!parsed) return "";
  return [parsed.kind, parsed.sub ?? parsed.keyId ?? parsed.userId ?? parsed.via].filter(Boolean).join(" ");
}
