import { noteWrongPerson } from "@/lib/audit/note-wrong-person";
import type { Service } from "@/lib/process";
import type { PersonSession } from "@/lib/sessions/session";
import { miss } from "../../miss";

/** The page of a miss; that it was somebody else's is noted after the answer, so that neither waits for or fails by the other. */
export function notTheirs(service: Service, session: PersonSession, id: string) {
  noteWrongPerson(service, session, id).catch((error: Error) =>
    service.log.warn({ approvalId: id, reason: error.message }, "a visit by the wrong person was not recorded"),
  );
  return miss();
}
