import { expect, it } from "vitest";
import { whyNotFresh } from "@/lib/oidc/fresh-proof";

const startedAt = 1_800_000_000_000;
const now = new Date(startedAt + 60_000);
const at = (seconds: number) => startedAt / 1000 + seconds;

it.each([
  ["at the start", at(0), undefined],
  ["now", at(60), undefined],
  ["10 s before the start, by a clock that is behind", at(-10), undefined],
  ["11 s before it", at(-11), "not_asked_again"],
  ["an hour before it", at(-3_600), "not_asked_again"],
  ["at the beginning of time", 0, "not_asked_again"],
  ["10 s from now, by a clock that is ahead", at(70), undefined],
  ["11 s from now", at(71), "clock_ahead"],
  ["at no time that is told", undefined, "no_auth_time"],
] as const)("a sign-in %s", (_when, authTime, fault) => {
  expect(whyNotFresh(authTime, startedAt, now)).toBe(fault);
});
