import { readForms } from "./html-form";

export type PersonActs = {
  /** What was pressed at least once. */
  pressed: boolean;
  /** The page has said that it is so: a 303 came back, and the page after it asks no more. */
  confirmed: boolean;
  /** What the page answered otherwise, in order. */
  surprises: string[];
};

export type PageVisit = {
  url: string;
  cookie: string;
  matchCode: string | undefined;
  readsForMs: number;
  /** When the person gives up. */
  endsAt: number;
};

/** Somebody with a browser that has no scripts: reads the page, presses, and presses again where nothing came back. */
export async function decideOnPage(visit: PageVisit, decision: "accept" | "decline" | "cancel"): Promise<PersonActs> {
  const acts: PersonActs = { pressed: false, confirmed: false, surprises: [] };
  let isAnswered = false;
  while (Date.now() < visit.endsAt) {
    const html = await readPage(visit, acts);
    if (html === undefined) continue;
    const form = readForms(html).find(({ action }) => action.endsWith("/decision"));
    if (!form) {
      acts.confirmed = isAnswered;
      return acts;
    }
    isAnswered = false;
    // The page takes an approval no earlier than a second after it was made.
    await pause(1_050 + visit.readsForMs);
    const code = "code" in form.fields ? { code: visit.matchCode ?? "" } : { read: "yes" };
    acts.pressed = true;
    isAnswered = await post(visit, form.action, { ...form.fields, ...code, decision }, acts);
  }
  return acts;
}

/** Takes an acceptance back, as long as the page offers it. `confirmed`: the page has said that it is so. */
export async function takeBackOnPage(visit: PageVisit): Promise<PersonActs> {
  const acts: PersonActs = { pressed: false, confirmed: false, surprises: [] };
  let isAnswered = false;
  while (Date.now() < visit.endsAt) {
    const html = await readPage(visit, acts);
    if (html === undefined) continue;
    const form = readForms(html).find(({ action }) => action.endsWith("/take-back"));
    if (!form) {
      acts.confirmed = isAnswered && html.includes("You took it back");
      return acts;
    }
    acts.pressed = true;
    isAnswered = await post(visit, form.action, form.fields, acts);
  }
  return acts;
}

async function readPage({ url, cookie }: PageVisit, acts: PersonActs): Promise<string | undefined> {
  try {
    const response = await fetch(url, { headers: { cookie }, redirect: "manual", signal: AbortSignal.timeout(15_000) });
    const html = await response.text();
    if (response.status === 200) return html;
    if (response.status < 500) acts.surprises.push(`the page answered ${response.status}`);
  } catch {
    // The browser shows that the site cannot be reached.
  }
  await pause(400);
  return undefined;
}

/** Whether the form's answer leads back to the page. */
async function post(
  { url, cookie }: PageVisit,
  action: string,
  fields: Record<string, string>,
  acts: PersonActs,
): Promise<boolean> {
  try {
    const response = await fetch(new URL(action, url), {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(fields),
      signal: AbortSignal.timeout(15_000),
    });
    await response.arrayBuffer();
    const isBack = response.status === 303 && new URL(response.headers.get("location") ?? "", url).href === url;
    if (!isBack && response.status < 500)
      acts.surprises.push(`the form was answered ${response.status} ${response.headers.get("location")}`);
    return isBack;
  } catch {
    return false;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
