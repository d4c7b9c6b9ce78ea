import { describe, expect, it } from "vitest";
import { networkOf, siteOf } from "@/lib/throttle/network";

describe("what counts as one source", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7", "an IPv4 address by itself"],
    ["::ffff:192.0.2.7", "192.0.2.7", "an IPv4 address written as IPv6"],
    ["::ffff:c000:207", "192.0.2.7", "and written in hex"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "an IPv6 address with its /64"],
    ["2001:0DB8:1:2::9", "2001:db8:1:2::/64", "in whatever spelling"],
    ["2001:db8::1", "2001:db8:0:0::/64", "with zeros left out"],
    ["::1", "0:0:0:0::/64", "loopback"],
    ["fe80::1%eth0", "fe80:0:0:0::/64", "without its zone"],
    ["", "unknown", "nothing"],
    ["nonsense", "unknown", "no address"],
    ["192.0.2.7, 198.51.100.1", "unknown", "a list, which nobody hands on"],
  ])("%j is %j: %s", (address, expected) => {
    expect(networkOf(address)).toBe(expected);
  });

  it("is unknown where there is no address", () => {
    expect(networkOf(undefined)).toBe("unknown");
  });
});

describe("what counts as one site", () => {
  it.each<[string, string | undefined, string]>([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48", "an IPv6 address with its /48"],
    ["2001:db8::1", "2001:db8:0::/48", "with zeros left out"],
    ["192.0.2.7", undefined, "an IPv4 address has none"],
    ["::ffff:192.0.2.7", undefined, "however it is written"],
    ["nonsense", undefined, "nor has what is no address"],
  ])("%j is %j: %s", (address, expected) => {
    expect(siteOf(address)).toBe(expected);
  });
});
