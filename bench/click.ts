import type { Service } from "@/lib/process";
import { formFor } from "@/test/support/deciding";
import type { Sent } from "./send";
import type { BenchPerson } from "./stage";

/** The request that a browser sends when this person presses «Approve», on a page rendered two seconds ago. */
export async function clickCall(service: Service, person: BenchPerson, url: string, id: string): Promise<Sent> {
  const { csrf, stamp, locale, renderedAt } = await formFor(service, person.session, id, "accept");
  return {
    method: "POST",
    url: `${url}/a/${id}/decision`,
    headers: {
      cookie: person.cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({
      csrf,
      stamp,
      locale,
      renderedAt: String(renderedAt),
      read: "yes",
      decision: "accept",
    }).toString(),
  };
}
