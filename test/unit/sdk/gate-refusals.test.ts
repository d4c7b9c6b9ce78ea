import { generateKeyPairSync } from "node:crypto";
import { instant, newApprovalId } from "@countersign/mcp/fake/approval";
import { describe, expect, it } from "vitest";
import { ALICE, apollo, endingOf, setStage, textOf } from "./crm";
import { sendRound } from "./raw-round";

describe("what keeps a guarded tool from running", () => {
  it.each([
    [409, "recently_declined", "recently_declined", "declined this same action a moment ago"],
    [403, "tool_not_allowed", "tool_not_allowed", "The policy does not allow this tool"],
    [403, "issuer_not_allowed", "issuer_not_allowed", "this identity provider"],
    [403, "frozen", "frozen", "Approvals are frozen"],
    [429, "too_many_pending", "too_many_pending", "Not before 7 seconds have passed."],
    [429, "mint_rate", "mint_rate", "Not before 7 seconds have passed."],
    [422, "check_mismatch", "check_mismatch", "Where: /presentation/checks/0"],
    [422, "number_not_exact", "unfit_arguments", "Where: /presentation/checks/0"],
    [422, "unsupported_requirement", "request_refused", "unsupported_requirement"],
    [422, "approver_differs", "request_refused", "approver_differs"],
    [401, "unauthorized", "not_authorized", "does not accept this server's key"],
    [403, "missing_scope", "not_authorized", "missing_scope"],
    [500, "internal", "unreachable", "could not be reached"],
    [418, "a_code_of_tomorrow", "request_refused", "a_code_of_tomorrow"],
  ])("a mint refused with %i %s is told as %s, and nobody is prompted", async (status, code, ending, words) => {
    const stage = await setStage();
    const problem = { status, code, errors: [{ pointer: "/presentation/checks/0", message: "" }] };
    stage.service.plan("mint", { kind: "refuse", problem, ...(status === 429 ? { retryAfter: 7 } : {}) });
    const client = await stage.connect("modern");
    const result = await client.call("delete_project", apollo);
    expect(result.isError).toBe(true);
    expect(endingOf(result)).toBe(ending);
    expect(textOf(result)).toContain('"delete_project" did not run.');
    expect(textOf(result)).toContain(words);
    expect(client.prompts).toEqual([]);
    expect(stage.runs()).toBe(0);
  });

  it("I13: a service that is down is told as unreachable", async () => {
    const stage = await setStage();
    await stage.service.close();
    const client = await stage.connect("modern");
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe("unreachable");
    expect(stage.runs()).toBe(0);
  });

  it("a project that does not exist is described to nobody", async () => {
    const stage = await setStage();
    const client = await stage.connect("modern");
    const result = await client.call("delete_project", { project_id: "p_99", expected_items: 0 });
    expect(endingOf(result)).toBe("presentation_failed");
    expect(stage.service.seen).toEqual([]);
  });

  it("I3: an approval that digests something else is withdrawn before anybody is prompted", async () => {
    const stage = await setStage();
    stage.service.overrides.actionDigest = `sha256:${"0".repeat(64)}`;
    const client = await stage.connect("modern");
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe("unverifiable");
    expect(client.prompts).toEqual([]);
    expect([...stage.service.approvals.values()]).toMatchObject([{ status: "withdrawn" }]);
  });
});

describe("I17: an accept without a receipt that proves it runs nothing and consumes nothing", () => {
  const stranger = { iss: "https://as.example.com", sub: "mallory" };
  it.each([
    ["of another approval", { approval_id: newApprovalId() }],
    ["of another client", { aud: "cli_other" }],
    ["of another issuer", { iss: "https://countersign.example.org" }],
    ["for another tool", { tool: "update_project" }],
    ["for another person", { sub_id: { format: "iss_sub", ...stranger } }],
    ["for another caller", { caller: { iss: "https://as.example.com", sub: "alice", clientId: "other-app" } }],
    ["that declines", { status: "declined", decision: "decline", decided_at: instant() }],
    ["that says accepted without a decision", { decision: undefined }],
    ["without the person who decided", { authn: undefined }],
    ["with claims of another form", { action_digest: "sha256:0" }],
  ])("a receipt %s", async (_, claims) => {
    const stage = await setStage();
    await expectRefused(stage, { claims });
  });

  it.each([
    ["of another type", { typ: "approval-record+jwt" }],
    ["of no type", { typ: undefined }],
    ["by an unknown key", { kid: "key-2" }],
  ])("a receipt %s", async (_, header) => {
    const stage = await setStage();
    await expectRefused(stage, { header });
  });

  it("a receipt by another key under the published kid", async () => {
    const stage = await setStage();
    Object.assign(stage.service.signer.publicJwk, {
      x: generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" })["x"],
    });
    await expectRefused(stage, {});
  });

  it("no receipt at all", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    await stage.service.decide(requestState, "accept");
    delete stage.service.approvals.get(requestState)?.receipt;
    const { result } = await sendRound({ ...call, requestState });
    expect(result?._meta?.["countersign/ending"]).toBe("unverifiable");
    expect(stage.service.count("consume")).toBe(0);
  });

  async function expectRefused(
    stage: Awaited<ReturnType<typeof setStage>>,
    forged: { claims?: Record<string, unknown>; header?: Record<string, unknown> },
  ) {
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    Object.assign(stage.service.overrides, forged);
    await stage.service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.["isError"]).toBe(true);
    expect(["unverifiable", "action_mismatch"]).toContain(result?._meta?.["countersign/ending"]);
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.runs()).toBe(0);
  }
});
