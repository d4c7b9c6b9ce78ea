import { z } from "zod";
import { Problem } from "@/lib/problem";
import { unlinkIdentity } from "@/lib/users/unlink";
import { receiveAdminForm } from "../../../posted-form";

/** In one field as JSON: a browser changes the line breaks of a field, and an identity is compared character by character. */
const identitySchema = z.tuple([z.string(), z.string()]);

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "user", verb: "unlink" }, async ({ service, id, actor, form }) => {
    const [iss, sub] = identityOf(form.get("identity") ?? "");
    await unlinkIdentity(service, { user: id, iss, sub }, actor);
    return "unlinked";
  });
}

function identityOf(text: string): [string, string] {
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Problem(
      "invalid_request",
      { errors: [{ pointer: "/identity", message: "names no identity" }] },
      { cause },
    );
  }
}
