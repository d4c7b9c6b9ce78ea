import { describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { allowsAddress, allowsHost, parseOutboundAllow } from "@/lib/outbound/policy";

const policyOf = (text: string) => {
  const { policy, faults } = parseOutboundAllow(text);
  expect(faults).toEqual([]);
  return policy;
};

describe("OUTBOUND_ALLOW", () => {
  it("allows nothing when it is empty", () => {
    expect(policyOf(" , ")).toEqual({ hosts: [], ranges: [] });
  });

  it("takes names, with a port or for all of them, in any case and with a trailing dot", () => {
    const policy = policyOf("Hooks.Internal:8080, idp.corp.,  localhost bücher.example my_service");
    expect(allowsHost(policy, "hooks.internal", 8080)).toBe(true);
    expect(allowsHost(policy, "hooks.internal", 8081)).toBe(false);
    expect(allowsHost(policy, "idp.corp", 1)).toBe(true);
    expect(allowsHost(policy, "sub.idp.corp", 1)).toBe(false);
    expect(allowsHost(policy, "corp", 1)).toBe(false);
    expect(allowsHost(policy, "localhost", 3000)).toBe(true);
    expect(allowsHost(policy, "xn--bcher-kva.example", 443)).toBe(true);
    expect(allowsHost(policy, "my_service", 443)).toBe(true);
  });

  it("takes addresses, with a port or for all of them, in any spelling", () => {
    const policy = policyOf("10.0.0.5,192.168.1.1:8080,fd12:0::1,[fd12::2],[fd12::3]:8443");
    expect(allowsAddress(policy, "10.0.0.5", 1)).toBe(true);
    expect(allowsAddress(policy, "10.0.0.6", 1)).toBe(false);
    expect(allowsAddress(policy, "192.168.1.1", 8080)).toBe(true);
    expect(allowsAddress(policy, "192.168.1.1", 8081)).toBe(false);
    expect(allowsAddress(policy, "fd12:0:0::0:1", 1)).toBe(true);
    expect(allowsAddress(policy, "fd12::2", 1)).toBe(true);
    expect(allowsAddress(policy, "fd12::3", 8443)).toBe(true);
    expect(allowsAddress(policy, "fd12::3", 443)).toBe(false);
  });

  it("takes ranges, and allows what is in them and nothing beside", () => {
    const policy = policyOf("10.1.0.0/16 172.16.0.0/12 192.168.7.128/25 fd12:3450::/29 1.2.3.4/32");
    for (const [address, isIn] of [
      ["10.1.0.0", true],
      ["10.1.255.255", true],
      ["10.0.255.255", false],
      ["10.2.0.0", false],
      ["172.31.255.255", true],
      ["172.32.0.0", false],
      ["192.168.7.127", false],
      ["192.168.7.128", true],
      ["192.168.7.255", true],
      ["192.168.8.128", false],
      ["fd12:3457::1", true],
      ["fd12:3458::1", false],
      ["1.2.3.4", true],
      ["1.2.3.5", false],
      // A mapped address is another address: who means it writes it.
      ["::ffff:10.1.0.1", false],
      ["::10.1.0.1", false],
      ["10.1.0.1%eth0", false],
      // Their first bytes are those of a range of the other family.
      ["a01::1", false],
      ["253.18.52.80", false],
    ] as const)
      expect([address, allowsAddress(policy, address, 443)]).toEqual([address, isIn]);
  });

  it.each([
    ["https://hooks.internal", "must be a host, not a URL"],
    ["*.internal", "must be one host: there are no wildcards"],
    ["10.0.0.1/8", "does not begin where a range of /8 begins"],
    ["fd12::1/64", "does not begin where a range of /64 begins"],
    ["10.0.0.0/33", "is not a CIDR range such as 10.1.0.0/16"],
    ["10.0.0.0/", "is not a CIDR range such as 10.1.0.0/16"],
    ["10.0.0.0/8/8", "is not a CIDR range such as 10.1.0.0/16"],
    ["10.0.0.0/8:80", "is not a CIDR range such as 10.1.0.0/16"],
    ["hooks.internal/8", "is not a CIDR range such as 10.1.0.0/16"],
    ["10/8", "is not a CIDR range such as 10.1.0.0/16"],
    ["fd12::/129", "is not a CIDR range such as 10.1.0.0/16"],
    ["0.0.0.0/0", "would allow every address"],
    ["::/0", "would allow every address"],
    ["fe80::1%eth0", "must not have a zone"],
    ["127.1", "must be written as 127.0.0.1"],
    ["2130706433", "must be written as 127.0.0.1"],
    ["0x7f.1:80", "must be written as 127.0.0.1"],
    ["hooks.internal:0", "must have a port from 1 to 65535"],
    ["hooks.internal:70000", "must have a port from 1 to 65535"],
    ["hooks.internal:http", "is neither a host, host:port, an address nor a CIDR range"],
    ["[hooks.internal]:80", "is neither a host, host:port, an address nor a CIDR range"],
    ["[::1", "is neither a host, host:port, an address nor a CIDR range"],
    ["hooks.internal?x", "is neither a host, host:port, an address nor a CIDR range"],
    ["hooks.internal\\x", "is neither a host, host:port, an address nor a CIDR range"],
    ["user@hooks.internal", "is neither a host, host:port, an address nor a CIDR range"],
    [":8080", "is neither a host, host:port, an address nor a CIDR range"],
    ["a..b", "is neither a host, host:port, an address nor a CIDR range"],
    ["256.1.1.1", "is neither a host, host:port, an address nor a CIDR range"],
    ["fd12::1::2", "is neither a host, host:port, an address nor a CIDR range"],
  ])("refuses %s and says which entry is wrong, and how", (entry, fault) => {
    expect(parseOutboundAllow(`ok.internal,${entry}`).faults).toEqual([`"${entry}" ${fault}`]);
  });

  it("reports its faults with all others of the configuration, each with the variable", () => {
    expect(() => parseConfig({ OUTBOUND_ALLOW: "*.internal,10.0.0.1/8", LOG_LEVEL: "loud" })).toThrowError(
      expect.objectContaining({
        faults: expect.arrayContaining([
          'OUTBOUND_ALLOW: "*.internal" must be one host: there are no wildcards',
          'OUTBOUND_ALLOW: "10.0.0.1/8" does not begin where a range of /8 begins',
          expect.stringMatching(/^LOG_LEVEL: /),
        ]),
      }),
    );
    expect(parseConfig({ OUTBOUND_ALLOW: "hooks.internal:8080" }).outbound.hosts).toEqual([
      { host: "hooks.internal", port: 8080 },
    ]);
  });
});
