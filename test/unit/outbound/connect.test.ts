import { describe, expect, it } from "vitest";
import { isOneOf } from "@/lib/outbound/connect";

const judged = [
  { address: "93.184.216.34", family: 4 },
  { address: "2606:4700:4700::1111", family: 6 },
];

describe("where a connection leads", () => {
  it("is one of the addresses that were judged, in any spelling", () => {
    expect(isOneOf(judged, "93.184.216.34")).toBe(true);
    expect(isOneOf(judged, "2606:4700:4700:0:0:0:0:1111")).toBe(true);
  });

  it.each([undefined, "", "127.0.0.1", "93.184.216.3", "::ffff:93.184.216.34", "2606:4700:4700::1112", "nonsense"])(
    "is refused where it is another one, or not known: %s",
    (remote) => {
      expect(isOneOf(judged, remote)).toBe(false);
      expect(isOneOf([], remote)).toBe(false);
      expect(isOneOf([{ address: "nonsense", family: 4 }], remote)).toBe(false);
    },
  );
});
