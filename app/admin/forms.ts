import type { FormHandler } from "../posted-form";
import { post as acknowledge } from "./clients/[id]/acknowledge/post";
import { post as freeze } from "./clients/[id]/freeze/post";
import { post as liftFreeze } from "./clients/[id]/lift-freeze/post";
import { post as unfreeze } from "./clients/[id]/unfreeze/post";
import { post as disable } from "./people/[id]/disable/post";
import { post as enable } from "./people/[id]/enable/post";
import { post as endSessions } from "./people/[id]/end-sessions/post";
import { post as link } from "./people/[id]/link/post";
import { post as unlink } from "./people/[id]/unlink/post";

import { post as disableEndpoint } from "./webhooks/[id]/disable/post";
import { post as enableEndpoint } from "./webhooks/[id]/enable/post";
import { post as replay } from "./webhooks/[id]/replay/post";
import { post as replayMissed } from "./webhooks/[id]/replay-missed/post";
import { post as testEndpoint } from "./webhooks/[id]/test/post";

export const adminForms: Record<string, FormHandler> = {
  "/admin/clients/:id/acknowledge": acknowledge,
  "/admin/clients/:id/freeze": freeze,
  "/admin/clients/:id/lift-freeze": liftFreeze,
  "/admin/clients/:id/unfreeze": unfreeze,
  "/admin/people/:id/disable": disable,
  "/admin/people/:id/enable": enable,
  "/admin/people/:id/end-sessions": endSessions,
  "/admin/people/:id/link": link,
  "/admin/people/:id/unlink": unlink,
  "/admin/webhooks/:id/disable": disableEndpoint,
  "/admin/webhooks/:id/enable": enableEndpoint,
  "/admin/webhooks/:id/replay": replay,
  "/admin/webhooks/:id/replay-missed": replayMissed,
  "/admin/webhooks/:id/test": testEndpoint,
};
