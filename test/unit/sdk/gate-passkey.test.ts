import { createGate, type GateOptions } from "@countersign/mcp";
import { instant } from "@countersign/mcp/fake/approval";
import { describe, expect, it } from "vitest";
import { createAuthenticator, type SoftwareAuthenticator } from "../../support/software-authenticator";
import { ALICE, apollo, endingOf, type Stage, setStage, textOf } from "./crm";
import { type Claims, evidenceOf, ORIGIN, pinOf, RP_ID } from "./evidence";
import { askRound, sendRound } from "./raw-round";

const options = { url: "http://127.0.0.1:3000", apiKey: "csk_x", resolveCaller: () => undefined };
const subject = { iss: "https://as.example.com", sub: "alice" };
const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const mallory = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });

/** The person accepts with a passkey; `changed` is what the evidence says otherwise than was signed, `beside` what the receipt does. */
async function acceptWith(
  stage: Stage,
  id: string,
  authenticator: SoftwareAuthenticator,
  changed: Claims = {},
  beside: Claims = {},
) {
  const { service } = stage;
  const view = { view_digest: `sha256:${"cd".repeat(32)}`, shown_at: instant() };
  const claims = {
    ...view,
    iss: service.url,
    aud: service.clientId,
    sub_id: { format: "iss_sub", ...subject },
    approval_id: id,
    action_digest: service.approvals.get(id)?.actionDigest,
  };
  const iat = Math.floor(Date.now() / 1000);
  const passkey = { ...evidenceOf(authenticator, claims, { iat }), created_at: instant(-3600), ...changed };
  service.overrides.claims = { ...view, ...beside, passkey };
  await service.decide(id, "accept");
}

/** A whole call in which the person decides by `decide`; in rounds, as the gate of a stateless server serves it. */
async function callInRounds(stage: Stage, decide: (id: string) => Promise<void>) {
  const call = { url: stage.crm.url, token: ALICE, args: apollo };
  const requestState = await askRound(call);
  await decide(requestState);
  const { result } = await sendRound({ ...call, requestState });
  return { text: result?.content?.[0]?.text, ending: result?._meta?.["countersign/ending"] };
}

describe("a gate that requires a passkey", () => {
  it("runs what a passkey signed, once", async () => {
    const stage = await setStage({ requirements: { passkey: "required" } });
    const { text } = await callInRounds(stage, (id) => acceptWith(stage, id, alice));
    expect(text).toBe("Deleted Apollo (p_42).");
    expect(stage.runs()).toBe(1);
    const { body } = stage.service.seen.find(({ route }) => route === "mint") ?? {};
    expect(body?.["requirements"]).toMatchObject({ passkey: "required" });
  });

  it("I13: runs nothing that no passkey signed, though the service grants it, and spends nothing", async () => {
    const stage = await setStage({ requirements: { passkey: "required" } });
    const { text, ending } = await callInRounds(stage, (id) => stage.service.decide(id, "accept"));
    expect(ending).toBe("unverifiable");
    expect(text).toContain("missing_evidence");
    expect(stage.runs()).toBe(0);
    expect(stage.service.count("consume")).toBe(0);
  });

  it("I13: runs nothing whose evidence is for something else", async () => {
    const stage = await setStage({ requirements: { passkey: "required" } });
    const nonce = "AAAAAAAAAAAAAAAAAAAAAA";
    const { text, ending } = await callInRounds(stage, (id) => acceptWith(stage, id, alice, { nonce }));
    expect(ending).toBe("unverifiable");
    expect(text).toContain("bad_evidence");
    expect(stage.runs()).toBe(0);
  });

  it("still tells a decline from all this", async () => {
    const stage = await setStage({ requirements: { passkey: "required" } });
    const { ending } = await callInRounds(stage, (id) => stage.service.decide(id, "decline"));
    expect(ending).toBe("declined");
  });
});

describe("a passkey that only the policy requires", () => {
  const call = async (stage: Stage, decide: (id: string) => Promise<void>) => {
    stage.service.overrides.effectiveRequirements = { passkey: "required" };
    const client = await stage.connect("legacy", {
      onPrompt: async ({ url }) => {
        await decide(url.split("/a/")[1] ?? "");
        return "accept" as const;
      },
    });
    return client.call("delete_project", apollo);
  };

  it("is looked for where the answer to the mint says so", async () => {
    const stage = await setStage();
    const result = await call(stage, (id) => stage.service.decide(id, "accept"));
    expect(endingOf(result)).toBe("unverifiable");
    expect(textOf(result)).toContain("missing_evidence");
    expect(stage.runs()).toBe(0);
  });

  it("lets the call run where it signed", async () => {
    const stage = await setStage();
    const result = await call(stage, (id) => acceptWith(stage, id, alice));
    expect(textOf(result)).toBe("Deleted Apollo (p_42).");
  });
});

describe("a gate with pinned passkeys", () => {
  const pinned = { requirements: { passkey: "required" as const }, credentials: [pinOf(alice, subject)] };

  it("I17: runs nothing that another passkey signed, though the service vouches for it", async () => {
    const stage = await setStage(pinned);
    const { text, ending } = await callInRounds(stage, (id) => acceptWith(stage, id, mallory));
    expect(ending).toBe("unverifiable");
    expect(text).toContain("unpinned_credential");
    expect(stage.runs()).toBe(0);
  });

  it("runs what the person's own signed", async () => {
    const stage = await setStage(pinned);
    const { text } = await callInRounds(stage, (id) => acceptWith(stage, id, alice));
    expect(text).toBe("Deleted Apollo (p_42).");
  });

  it("is not made with a list that could match nothing", () => {
    const credentials = [
      { ...pinOf(alice, subject), publicKey: { kty: "EC" } },
    ] as unknown as GateOptions["credentials"];
    expect(() => createGate({ ...options, ...(credentials ? { credentials } : {}) })).toThrow(TypeError);
    expect(() => createGate({ ...options, pinned: "subject" })).toThrow(TypeError);
  });

  describe("of the identity that an admin has linked", () => {
    const linked = { iss: "https://idp.example.net", sub: "a-17" };
    const accept = (stage: Stage) => (id: string) =>
      acceptWith(stage, id, alice, {}, { authn: { ...linked, via: "admin_link" } });
    const theirs = { ...pinned, credentials: [pinOf(alice, linked)] };

    it("runs what that one's signed", async () => {
      const stage = await setStage(theirs);
      const { text } = await callInRounds(stage, accept(stage));
      expect(text).toBe("Deleted Apollo (p_42).");
    });

    it("I17: runs nothing that it signed where only the caller's counts", async () => {
      const stage = await setStage({ ...theirs, pinned: "subject" });
      const { text, ending } = await callInRounds(stage, accept(stage));
      expect(ending).toBe("unverifiable");
      expect(text).toContain("unpinned_credential");
      expect(stage.runs()).toBe(0);
      expect(stage.service.count("consume")).toBe(0);
    });
  });
});

describe("a gate with a pinned origin", () => {
  const requirements = { passkey: "required" as const };

  it("runs what was signed there", async () => {
    const stage = await setStage({ requirements, origin: ORIGIN });
    const { text } = await callInRounds(stage, (id) => acceptWith(stage, id, alice));
    expect(text).toBe("Deleted Apollo (p_42).");
  });

  it("I13: runs nothing that was signed anywhere else under the same relying party, and spends nothing", async () => {
    const stage = await setStage({ requirements, origin: "https://example.com" });
    const { text, ending } = await callInRounds(stage, (id) => acceptWith(stage, id, alice));
    expect(ending).toBe("unverifiable");
    expect(text).toContain("bad_evidence");
    expect(stage.runs()).toBe(0);
    expect(stage.service.count("consume")).toBe(0);
  });

  it.each(["https://example.com/", "https://EXAMPLE.com", "https://example.com:443", "example.com", "", "null"])(
    "is not made with %j, which no page is on",
    (origin) => {
      expect(() => createGate({ ...options, origin })).toThrow(TypeError);
    },
  );
});
