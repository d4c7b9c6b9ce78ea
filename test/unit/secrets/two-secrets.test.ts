import fc from "fast-check";
import { CompactEncrypt } from "jose";
import { describe, expect, it } from "vitest";
import { deriveSecrets, type SecretLabel } from "@/lib/secrets/derive";
import { isMacOf, mac, macsOf } from "@/lib/secrets/mac";
import { open, seal } from "@/lib/secrets/seal";

const [oldBytes, newBytes] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const [old, alone, both] = [deriveSecrets(oldBytes), deriveSecrets(newBytes), deriveSecrets(newBytes, oldBytes)];

const label = fc.constantFrom<SecretLabel>("csrf", "stamp", "cursor", "tag", "row");
const parts = fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { maxLength: 6 });

describe("a secret and the one before it", () => {
  it("give keys of their own for each use, and a secret that is too short gives none", () => {
    const keys = [both, both.previous ?? both].flatMap(({ previous: _, ...rest }: typeof both) => Object.values(rest));
    expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(keys.length);
    expect(() => deriveSecrets(newBytes, new Uint8Array(31))).toThrow(RangeError);
  });

  it("whatever was authenticated before a rotation still is with both, and is not with the new one alone", () => {
    fc.assert(
      fc.property(label, parts, (use, values) => {
        const made = mac(old[use], values);
        expect([isMacOf(both, use, values, made), isMacOf(alone, use, values, made)]).toEqual([true, false]);
      }),
    );
  });

  it("what is made during a rotation holds after it, with the new one alone, and not with the old one", () => {
    fc.assert(
      fc.property(label, parts, (use, values) => {
        const [made] = macsOf(both, use, values);
        expect([isMacOf(alone, use, values, made), isMacOf(old, use, values, made)]).toEqual([true, false]);
      }),
    );
  });

  it("neither holds for other parts, another use, or with one bit changed", () => {
    fc.assert(
      fc.property(label, label, parts, parts, fc.nat(255), (use, otherUse, values, others, bit) => {
        for (const made of macsOf(both, use, values)) {
          const flipped = Buffer.from(made);
          flipped.writeUInt8((flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
          expect(isMacOf(both, use, values, flipped)).toBe(false);
          expect(isMacOf(both, use, values, made.subarray(1))).toBe(false);
          if (use !== otherUse) expect(isMacOf(both, otherUse, values, made)).toBe(false);
          if (JSON.stringify(values) !== JSON.stringify(others)) expect(isMacOf(both, use, others, made)).toBe(false);
        }
      }),
    );
  });
});

describe("what is sealed", () => {
  it("opens with the secret that sealed it, current or previous, and for its own purpose and use alone", async () => {
    const sealed = await seal(old, "flash", "notice", { a: 1 });
    expect(await open(both, "flash", "notice", sealed)).toEqual({ a: 1 });
    expect(await open(alone, "flash", "notice", sealed)).toBeUndefined();
    expect(await open(both, "flash", "other", sealed)).toBeUndefined();
    expect(await open(both, "flow", "notice", sealed)).toBeUndefined();
    expect(await open(alone, "flash", "notice", await seal(both, "flash", "notice", {}))).toEqual({});
  });

  it("opens in no other way: changed, cut, of another algorithm, or nothing at all", async () => {
    const sealed = await seal(both, "flow", "link", { sid: "x" });
    const [head, , iv, text, tag] = sealed.split(".");
    for (const spoilt of [
      "",
      "a.b.c.d.e",
      sealed.slice(1),
      `${head}..${iv}.${text}A.${tag}`,
      `${head}..${iv}.${text}.`,
    ])
      expect(await open(both, "flow", "link", spoilt)).toBeUndefined();
    const other = await new CompactEncrypt(new TextEncoder().encode("{}"))
      .setProtectedHeader({ alg: "A256GCMKW", enc: "A256GCM", typ: "link" })
      .encrypt(both.flow);
    expect(await open(both, "flow", "link", other)).toBeUndefined();
  });
});
