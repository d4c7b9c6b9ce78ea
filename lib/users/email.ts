import { z } from "zod";
import { Problem } from "../problem";

const schema = z
  .email()
  .max(254)
  .regex(/^[\x21-\x7e]+$/);

/** The one form of an e-mail address: trimmed, lower case, ASCII. Errors: `invalid_request`. */
export function normalEmail(text: string): string {
  // Judged before it is lowered: U+212A (Kelvin sign), for one, would become an ASCII k.
  const email = schema.safeParse(text.trim());
  if (!email.success)
    throw new Problem("invalid_request", {
      errors: [{ pointer: "/email", message: "must be an e-mail address in ASCII" }],
    });
  return handleOf(email.data);
}

/** What is looked up and counted for an address as somebody typed it: without space around, in lower case. Any text has one. */
export function handleOf(typed: string): string {
  return typed.trim().toLowerCase();
}
