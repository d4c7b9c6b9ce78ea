import { describe, expect, it } from "vitest";
import { judgeOutbound } from "@/lib/outbound/judge";
import { parseOutboundAllow } from "@/lib/outbound/policy";

const judge = (url: string, addresses: string[] = [], allow = "") =>
  judgeOutbound(parseOutboundAllow(allow).policy, url, {
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
  });

const notPublic = (host: string, entry: string) =>
  `The address of ${host} is not public. An operator can allow it by adding ${entry} to OUTBOUND_ALLOW.`;

describe("a URL that is added", () => {
  it("is fine where it is https and all its addresses are public", async () => {
    expect(await judge("https://hooks.example/x?y#z", ["93.184.216.34", "2606:4700:4700::1111"])).toBeUndefined();
    expect(await judge("https://1.1.1.1:8443/")).toBeUndefined();
    expect(await judge("https://[2606:4700:4700::1111]/")).toBeUndefined();
  });

  it.each([
    ["a number", "https://2130706433/", "127.0.0.1"],
    ["hexadecimal", "https://0x7f000001/", "127.0.0.1"],
    ["hexadecimal, short", "https://0x7f.1/", "127.0.0.1"],
    ["octal", "https://0177.0.0.1/", "127.0.0.1"],
    ["short", "https://127.1/", "127.0.0.1"],
    ["zero", "https://0/", "0.0.0.0"],
    ["a trailing dot", "https://127.0.0.1./", "127.0.0.1"],
    ["percent-encoded", "https://%31%32%37.0.0.1/", "127.0.0.1"],
    ["full-width digits", "https://１２７.０.０.１/", "127.0.0.1"],
    ["ideographic full stops", "https://127。0。0。1/", "127.0.0.1"],
    ["circled digits", "https://①②⑦.⓪.⓪.①/", "127.0.0.1"],
    ["a tab inside", "https://127.0\t.0.1/", "127.0.0.1"],
    ["backslashes", "https:\\\\127.0.0.1\\x", "127.0.0.1"],
    ["one slash", "https:/127.0.0.1/", "127.0.0.1"],
    ["the metadata address as a number", "https://2852039166/", "169.254.169.254"],
    ["the metadata address, octal", "https://0251.0376.0251.0376/", "169.254.169.254"],
  ])("is refused in whatever way its address is written: %s", async (_, url, host) => {
    expect(await judge(url)).toBe(notPublic(host, `${host}:443`));
  });

  it.each([
    ["https://[::1]/", "::1"],
    ["https://[::]/", "::"],
    ["https://[0:0:0:0:0:0:0:1]/", "::1"],
    ["https://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
    ["https://[::ffff:7f00:1]/", "::ffff:7f00:1"],
    ["https://[::127.0.0.1]/", "::7f00:1"],
    ["https://[64:ff9b::169.254.169.254]/", "64:ff9b::a9fe:a9fe"],
    ["https://[2002:7f00:1::]/", "2002:7f00:1::"],
    ["https://[fe80::1]/", "fe80::1"],
    ["https://[fd00:ec2::254]/", "fd00:ec2::254"],
    ["https://[FD12::1]:8443/", "fd12::1", 8443],
  ])("is refused with an IPv6 address that is not public: %s", async (url, host, port = 443) => {
    expect(await judge(url)).toBe(notPublic(host, `[${host}]:${port}`));
  });

  it.each([
    ["localhost", "127.0.0.1"],
    ["service.localhost", "::1"],
    ["printer.local", "192.168.0.9"],
    ["hooks.internal", "10.0.0.7"],
    ["metadata.google.internal", "169.254.169.254"],
    ["mapped.example", "::ffff:10.0.0.7"],
    ["nat64.example", "64:ff9b::a00:7"],
    ["zone.example", "fe80::1%eth0"],
    ["broken.example", "no address"],
  ])("is refused by the address that its name has: %s", async (host, address) => {
    expect(await judge(`https://${host}/`, [address])).toBe(notPublic(host, `${host}:443`));
    expect(await judge(`https://${host.toUpperCase()}./`, [address])).toBe(notPublic(host, `${host}:443`));
  });

  it("is refused where one of its addresses is not public, wherever that stands among them", async () => {
    const refusal = notPublic("half.example", "half.example:443");
    expect(await judge("https://half.example/", ["93.184.216.34", "10.0.0.1"])).toBe(refusal);
    expect(await judge("https://half.example/", ["10.0.0.1", "93.184.216.34"])).toBe(refusal);
    expect(await judge("https://half.example/", ["93.184.216.34", "::1"])).toBe(refusal);
  });

  it.each([
    ["", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["hooks.example/x", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["https://", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["https://[fe80::1%25eth0]/", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["https://[fe80::1%eth0]/", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["https://a b/", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["https://256.256.256.256/", "The URL must be whole, such as https://hooks.example.com/countersign."],
    ["ftp://hooks.example/", "The URL must begin with https://."],
    ["file:///etc/passwd", "The URL must begin with https://."],
    ["gopher://127.0.0.1:6379/_x", "The URL must begin with https://."],
    ["javascript:alert(1)", "The URL must begin with https://."],
    ["ws://hooks.example/", "The URL must begin with https://."],
    ["https://user@hooks.example/", "The URL must hold no user name and no password."],
    ["https://:secret@hooks.example/", "The URL must hold no user name and no password."],
    ["https://hooks.example@127.0.0.1/", "The URL must hold no user name and no password."],
  ])("is refused for how it is written: %s", async (url, sentence) => {
    expect(await judge(url, ["93.184.216.34"], "127.0.0.1")).toBe(sentence);
  });

  it("is refused where its name does not resolve, and where it resolves to nothing", async () => {
    expect(await judge("https://nowhere.example/", [])).toBe("The name nowhere.example does not resolve.");
    const failing = async () => Promise.reject(new Error("queryA ENOTFOUND 10.0.0.53"));
    expect(await judgeOutbound({ hosts: [], ranges: [] }, "https://nowhere.example/", { resolve: failing })).toBe(
      "The name nowhere.example does not resolve.",
    );
  });

  it("tells of http the same whatever the address is, so that nobody learns of the network by asking", async () => {
    const sentence =
      "The URL must begin with https://. An operator can allow http by adding hooks.example:8080 to OUTBOUND_ALLOW.";
    expect(await judge("http://hooks.example:8080/", ["93.184.216.34"])).toBe(sentence);
    expect(await judge("http://hooks.example:8080/", ["10.0.0.1"])).toBe(sentence);
    expect(await judge("http://hooks.example:8080/", ["169.254.169.254"])).toBe(sentence);
  });
});

describe("what the operator allows", () => {
  it("by name may be http and private, on that port", async () => {
    const allow = "hooks.internal:8080";
    expect(await judge("http://hooks.internal:8080/", ["10.0.0.7", "fd12::7"], allow)).toBeUndefined();
    expect(await judge("https://HOOKS.internal.:8080/", ["127.0.0.1"], allow)).toBeUndefined();
    expect(await judge("https://hooks.internal/", ["10.0.0.7"], allow)).toBe(
      notPublic("hooks.internal", "hooks.internal:443"),
    );
    expect(await judge("https://other.internal:8080/", ["10.0.0.7"], allow)).toBe(
      notPublic("other.internal", "other.internal:8080"),
    );
  });

  it.each([
    "169.254.169.254",
    "100.100.100.200",
    "fd00:ec2::254",
    "169.254.1.1",
    "0.0.0.0",
    "::ffff:10.0.0.1",
    "224.0.0.1",
  ])("by name may not be where nobody's service is: %s", async (address) => {
    expect(await judge("https://hooks.internal/", [address], "hooks.internal")).toBe(
      "The address of hooks.internal is not public, and one that OUTBOUND_ALLOW must hold itself: the name there is not enough.",
    );
    expect(await judge("https://hooks.internal/", [address], `hooks.internal,${address}`)).toBeUndefined();
  });

  it("by range may be http and private, whatever its name, and nothing beside the range may", async () => {
    const allow = "10.1.0.0/16";
    expect(await judge("http://any.example/", ["10.1.2.3"], allow)).toBeUndefined();
    expect(await judge("http://10.1.2.3:81/", [], allow)).toBeUndefined();
    expect(await judge("https://any.example/", ["10.1.2.3", "93.184.216.34"], allow)).toBeUndefined();
    expect(await judge("https://any.example/", ["10.2.2.3"], allow)).toMatch(/is not public/);
    expect(await judge("https://any.example/", ["10.1.2.3", "10.2.2.3"], allow)).toMatch(/is not public/);
    expect(await judge("http://any.example/", ["10.1.2.3", "93.184.216.34"], allow)).toMatch(/must begin with https/);
    expect(await judge("https://[::ffff:10.1.2.3]/", [], allow)).toMatch(/is not public/);
  });

  it("by a wide range never is a metadata address: that must be named alone", async () => {
    const metadata = (allow: string) => judge("http://169.254.169.254/", [], allow);
    expect(await metadata("169.254.0.0/16")).toMatch(/must begin with https/);
    expect(await metadata("169.254.169.254/31")).toMatch(/must begin with https/);
    expect(await metadata("169.254.169.254/32")).toBeUndefined();
    expect(await metadata("169.254.169.254:80")).toBeUndefined();
    expect(await judge("http://169.254.7.7/", [], "169.254.0.0/16")).toBeUndefined();
    expect(await judge("https://[fd00:ec2::254]/", [], "fc00::/7")).toMatch(/is not public/);
    expect(await judge("https://100.100.100.200/", [], "100.64.0.0/10")).toMatch(/is not public/);
  });

  it("as the refusal says it is enough", async () => {
    for (const url of [
      "https://10.0.0.1:444/",
      "https://[fd12::1]/",
      "http://hooks.example/",
      "http://169.254.169.254/",
    ]) {
      const sentence = await judge(url, ["10.0.0.1"]);
      const entry = /adding (\S+) to OUTBOUND_ALLOW/.exec(sentence ?? "")?.[1] ?? "";
      expect(await judge(url, ["10.0.0.1"], entry)).toBeUndefined();
    }
  });
});
