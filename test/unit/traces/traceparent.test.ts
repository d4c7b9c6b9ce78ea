import { describe, expect, it } from "vitest";
import { parseTraceparent, traceparentOf } from "@/lib/traces/traceparent";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";

describe("traceparent (W3C Trace Context)", () => {
  it("is read and written as it came", () => {
    for (const flags of ["00", "01"]) {
      const header = `00-${trace}-${span}-${flags}`;
      const context = parseTraceparent(header);
      expect(context && traceparentOf(context)).toBe(header);
    }
  });

  it("of a later version is read by what they have in common, and answered in ours", () => {
    for (const header of [`cc-${trace}-${span}-01`, `cc-${trace}-${span}-01-what-comes-later`]) {
      const context = parseTraceparent(header);
      expect(context && traceparentOf(context)).toBe(`00-${trace}-${span}-01`);
    }
  });

  it.each([
    ["nothing", ""],
    ["version ff", `ff-${trace}-${span}-01`],
    ["more than version 00 has", `00-${trace}-${span}-01-x`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${span}-01`],
    ["a span of zeros", `00-${trace}-${"0".repeat(16)}-01`],
    ["upper case", `00-${trace.toUpperCase()}-${span}-01`],
    ["too short a trace", `00-${trace.slice(1)}-${span}-01`],
    ["a line more", `00-${trace}-${span}-01\nx`],
    ["a value before", ` 00-${trace}-${span}-01`],
  ])("with %s begins a new trace", (_what, header) => expect(parseTraceparent(header)).toBeUndefined());
});
