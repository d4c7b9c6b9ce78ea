import { afterEach, beforeEach, expect, vi } from "vitest";

// What a library complains about on the console is a defect somebody would otherwise scroll past.
beforeEach(() => {
  vi.spyOn(console, "error");
  vi.spyOn(console, "warn");
});

afterEach(() => {
  const complaints = [...vi.mocked(console.error).mock.calls, ...vi.mocked(console.warn).mock.calls];
  vi.restoreAllMocks();
  expect(complaints, "console.error or console.warn was called").toEqual([]);
});
