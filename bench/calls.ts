import type { Sent } from "./load";
import type { BenchStage } from "./stage";

const action = {
  tool: "delete_project",
  arguments: { project_id: "p_42", expected_items: 318, notify: ["a@example.com", "b@example.com"] },
};

export const jsonHeaders = (apiKey: string) => ({
  authorization: `Bearer ${apiKey}`,
  "content-type": "application/json",
});

/** A mint for one of many people, so that no limit is met and no lock is shared, as it is with real callers. */
export function mintBody(stage: BenchStage, sub: string): string {
  return JSON.stringify({
    caller: { iss: stage.person.iss, sub, clientId: "chat-app" },
    action,
    presentation: {
      title: "Delete project Apollo",
      purpose: "Customer asked to close the account",
      irreversible: true,
      details: [{ label: "Project", value: "Apollo (p_42)", risk: true }],
    },
    requirements: { matchCode: false },
    ttlSeconds: 3_600,
    actBySeconds: 3_600,
  });
}

export function mintCall(stage: BenchStage, apiKey: string, sub: string): Sent {
  return {
    method: "POST",
    url: `${stage.server.url}/api/v1/approvals`,
    headers: jsonHeaders(apiKey),
    body: mintBody(stage, sub),
  };
}

export function consumeCall(stage: BenchStage, apiKey: string, id: string, consumerToken: string): Sent {
  const body = JSON.stringify({
    caller: { iss: stage.person.iss, sub: stage.person.sub, clientId: "chat-app" },
    action,
    consumerToken,
  });
  return {
    method: "POST",
    url: `${stage.server.url}/api/v1/approvals/${id}/consume`,
    headers: jsonHeaders(apiKey),
    body,
  };
}
