import type { FormHandler } from "../posted-form";
import { post as challenge } from "./[id]/challenge/post";
import { post as decision } from "./[id]/decision/post";
import { post as liftCooldown } from "./[id]/lift-cooldown/post";
import { post as stepUp } from "./[id]/sign-in-again/submit/post";
import { post as takeBack } from "./[id]/take-back/post";

export const approvalForms: Record<string, FormHandler> = {
  "/a/:id/challenge": challenge,
  "/a/:id/decision": decision,
  "/a/:id/take-back": takeBack,
  "/a/:id/lift-cooldown": liftCooldown,
  "/a/:id/sign-in-again/submit": stepUp,
};
