import { describe, expect, it } from "vitest";
import { parseAnswer } from "@/lib/passkeys/verify-answer";
import { parseRegistration } from "@/lib/passkeys/verify-registration";
import { createAuthenticator } from "../../support/software-authenticator";

const authenticator = createAuthenticator({ rpId: "localhost", origin: "http://localhost:3000" });
const challenge = "A".repeat(43);
const other = "B".repeat(43);

describe("what a browser sends names its credential once", () => {
  it("in an answer: `rawId` is `id`, or it is none", () => {
    const answer = authenticator.get(challenge);
    expect(parseAnswer(JSON.stringify(answer))).toMatchObject({ challenge, response: { id: answer.id } });
    for (const wrong of [{ rawId: other }, { id: other }, { rawId: "" }, { rawId: `${answer.id}=` }])
      expect(parseAnswer(JSON.stringify({ ...answer, ...wrong }))).toBeUndefined();
  });

  it("in a registration: `rawId` is `id`, or it is none", () => {
    const answer = authenticator.register(challenge, "AAAA");
    expect(parseRegistration(JSON.stringify(answer))).toMatchObject({ challenge, id: answer.id });
    for (const wrong of [{ rawId: other }, { id: other }, { rawId: "" }, { rawId: `${answer.id}=` }])
      expect(parseRegistration(JSON.stringify({ ...answer, ...wrong }))).toBeUndefined();
  });
});
