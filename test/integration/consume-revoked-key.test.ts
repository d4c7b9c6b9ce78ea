import { afterAll, beforeAll, expect, it } from "vitest";
import { commitChange, readApproval } from "@/lib/approvals/store";
import { transition } from "@/lib/approvals/transitions";
import { createSigningKey } from "@/lib/keys/create";
import { insertSigningKey } from "@/lib/keys/store";
import { addPerson, addTestClient, mintApproval, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let session: Awaited<ReturnType<typeof signIn>>["session"];

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service);
  ({ session } = await signIn(t.service, await addPerson(t.service)));
});
afterAll(() => t.stop());

/** Another key, which signs from now on. Returns its kid. */
async function addSigner(): Promise<string> {
  const from = new Date(Date.now() - 1);
  const key = await createSigningKey(t.service.secrets, { publishFrom: from, activeFrom: from });
  await insertSigningKey(t.service.pool, key);
  await t.service.keys.refresh();
  expect(t.service.keys.signer().kid).toBe(key.kid);
  return key.kid;
}

/** An approval whose record one key has signed, and whose receipt of the accept another one. */
async function acceptedOverRotation() {
  const record = await addSigner();
  const { id } = await mintApproval(client, session);
  const receipt = await addSigner();
  expect(await decideAs(t.service, session, id, "accept")).toEqual({ kind: "decided" });
  return { id, kids: { record, receipt } };
}

/** A consumption as it is written once everything was verified, to be committed at a moment of the test's choice. */
async function consumption(id: string) {
  const read = await readApproval(t.service.pool, id);
  const step = read && transition(read.approval, { kind: "consume", consumerHash: new Uint8Array(32) }, read.now);
  if (!read || !step?.ok) throw new Error("cannot be consumed");
  const actor = { kind: "client", keyId: client.keyId } as const;
  const { next: to, event, validUntil } = step;
  return () => commitChange(t.service.pool, { from: read.approval, to, event, validUntil, actor });
}

/** As the revocation's own transaction leaves the key; the approvals were written by others since it looked at them. */
const revoke = (kid: string) =>
  t.service.pool.query(
    `UPDATE "signing_key" SET "status" = 'revoked', "private_jwe" = NULL, "revoked_at" = clock_timestamp() WHERE "kid" = $1`,
    [kid],
  );

for (const signed of ["record", "receipt"] as const)
  it(`I5, I13: a key that is revoked between verifying and writing grants nothing any more: that of the ${signed}`, async () => {
    const { id, kids } = await acceptedOverRotation();
    const commit = await consumption(id);
    await revoke(kids[signed]);
    expect(await commit()).toBe(false);
    expect(await readApproval(t.service.pool, id)).toMatchObject({ approval: { consumption: { at: null } } });
  });

it("a consumption whose two keys hold is written, whatever other key was revoked meanwhile", async () => {
  const { id } = await acceptedOverRotation();
  const commit = await consumption(id);
  await revoke(await addSigner());
  expect(await commit()).toBe(true);
  expect(await readApproval(t.service.pool, id)).toMatchObject({ approval: { consumption: { at: expect.any(Date) } } });
});
