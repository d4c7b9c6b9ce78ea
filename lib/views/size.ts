import type { JsonObject, JsonValue } from "../json/value";
import { withoutHidden } from "../text/hidden";

/** What a page can show so that a person can read it, and a process can make it: each is far beyond either. */
const leavesMax = 1_000;
const charactersMax = 400_000;
/** A hidden character is drawn as a box with its name. */
const hiddenCharacters = 50;

/**
 * Whether these arguments can be shown whole: every leaf is drawn with the whole way to it, so a long name over a long list grows like
 * their product. What cannot be shown is refused when it is asked for, never cut (I11).
 */
export function isShowable(args: JsonObject): boolean {
  let leaves = 0;
  let characters = 0;
  const stack: { value: JsonValue; path: number }[] = [{ value: args, path: 0 }];
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { value, path } = top;
    const members = isContainer(value) ? Object.entries(value) : [];
    if (members.length === 0) {
      leaves += 1;
      characters += path + drawn(typeof value === "string" ? value : String(value));
    }
    if (leaves > leavesMax || characters > charactersMax || stack.length > leavesMax * 2) return false;
    for (const [name, member] of members) stack.push({ value: member, path: path + drawn(name) + 4 });
  }
  return true;
}

const isContainer = (value: JsonValue): value is Exclude<JsonValue, null | string | number | boolean> =>
  typeof value === "object" && value !== null;

function drawn(text: string): number {
  return text.length + (text.length - withoutHidden(text).length) * hiddenCharacters;
}
