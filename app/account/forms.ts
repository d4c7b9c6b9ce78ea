import type { FormHandler } from "../posted-form";
import { post as liftFreeze } from "./freezes/[id]/lift/post";
import { post as unlink } from "./links/unlink/post";
import { post as removePasskey } from "./passkeys/[id]/remove/post";
import { post as renamePasskey } from "./passkeys/[id]/rename/post";
import { post as askToRegister } from "./passkeys/challenge/post";
import { post as registerPasskey } from "./passkeys/post";
import { post as askToStepUp } from "./passkeys/step-up/challenge/post";
import { post as stepUpWithPasskey } from "./passkeys/step-up/post";
import { post as endSession } from "./sessions/[name]/end/post";
import { post as endOtherSessions } from "./sessions/end-others/post";
import { post as stepUp } from "./sign-in-again/submit/post";

export const accountForms: Record<string, FormHandler> = {
  "/account/freezes/:id/lift": liftFreeze,
  "/account/links/unlink": unlink,
  "/account/passkeys": registerPasskey,
  "/account/passkeys/challenge": askToRegister,
  "/account/passkeys/step-up": stepUpWithPasskey,
  "/account/passkeys/step-up/challenge": askToStepUp,
  "/account/passkeys/:id/rename": renamePasskey,
  "/account/passkeys/:id/remove": removePasskey,
  "/account/sessions/:name/end": endSession,
  "/account/sessions/end-others": endOtherSessions,
  "/account/sign-in-again/submit": stepUp,
};
