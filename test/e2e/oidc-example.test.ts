import { afterAll, beforeAll, expect, it } from "vitest";
import { check } from "@/examples/oidc-server/check";
import { approve, mcpCallerOf, receiptOf, signInAt } from "@/test/support/oidc-acts";
import { resource, type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser } from "@/test/support/web-browser";

let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.stop());

it("oidc-server: the person of the access token, signed in at the same provider, approves, and it runs once in each era (I2, I15, S31)", async () => {
  const ada = await mcpCallerOf(stage.acme, "ada");
  const browser = new WebBrowser();
  const decided: string[] = [];
  await check({
    url: stage.url,
    apiKey: stage.client.apiKey,
    clientId: stage.client.clientId,
    accessToken: ada.accessToken,
    tokens: { issuer: stage.acme, audience: resource, jwksUrl: `${stage.acme}/jwks` },
    person: async ({ approvalId }) => {
      // Somebody else with the link sees nothing, before and after.
      const eve = await signInAt(stage, new WebBrowser(), "eve", `/a/${approvalId}`);
      expect([eve.status, eve.text.includes("Nothing here for")]).toEqual([404, true]);
      const page = await signInAt(stage, browser, "ada", `/a/${approvalId}`);
      expect(page.text).toContain("owner");
      await approve(stage, browser, approvalId);
      decided.push(approvalId);
    },
  });
  expect(decided).toHaveLength(2);
  for (const id of decided)
    expect(await receiptOf(stage, id)).toMatchObject({
      status: "accepted",
      caller: { iss: stage.acme, sub: "ada", clientId: "chat" },
      authn: { iss: stage.acme, sub: "ada", via: "self" },
    });
});
