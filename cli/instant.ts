import { z } from "zod";
import { CommandError } from "./output";

const schema = z.iso.datetime({ offset: true });

/** An instant named on the command line, in the form of RFC 3339 with an offset or `Z`. Errors: `bad_instant`. */
export function readInstant(option: string, text: string): Date {
  const at = new Date(schema.safeParse(text).data ?? "");
  if (Number.isNaN(at.getTime()))
    throw new CommandError("bad_instant", `${option}: "${text}" is not an instant such as 2026-12-01T09:30:00Z.`);
  return at;
}
