import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseConfig } from "@/lib/config";
import { parseSurfaces } from "@/lib/surfaces/parse";

const read = (file: string) => readFileSync(file, "utf8");
/** Instructions, with continued lines joined and comments left out. */
const instructions = read("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter(Boolean);
const of = (name: string) => instructions.filter((line) => line.startsWith(`${name} `));
const lastStage = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));

/** Of a YAML mapping, the lines below `key` that are deeper than it. */
function block(text: string, key: string): string {
  const [, indent = "", rest = ""] = new RegExp(`^( *)${key}:.*\\n([\\s\\S]*)`, "m").exec(text) ?? [];
  const lines = rest.split("\n");
  const end = lines.findIndex((line) => line.trim() !== "" && !line.startsWith(`${indent} `));
  return lines.slice(0, end < 0 ? undefined : end).join("\n");
}

/** How long a process may take to end: the grace, requests under way, and the 15 s of a delivery that a worker has begun. */
const drainSeconds = (graceSeconds: number) => {
  const [, timeout = ""] = /drainTimeoutMs = ([\d_]+)/.exec(read("app/listeners.ts")) ?? [];
  return graceSeconds + Number(timeout.replaceAll("_", "")) / 1000 + 15;
};

describe("the image", () => {
  it("runs as somebody who is not root and owns nothing of the tree, whatever came before", () => {
    expect(lastStage.filter((line) => line.startsWith("USER "))).toEqual(["USER 1000:1000"]);
    const afterUser = lastStage.slice(lastStage.findIndex((line) => line.startsWith("USER ")));
    expect(afterUser.filter((line) => /^(?:COPY|ADD|RUN) /.test(line))).toEqual([]);
    expect(of("COPY").filter((line) => line.includes("--chown"))).toEqual([]);
  });

  it("is built from the lockfile, on one base of the Node version that the documents name", () => {
    const [, base = ""] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read("Dockerfile")) ?? [];
    expect(base).toMatch(/^node:\d+-\w+-slim$/);
    expect(of("FROM").filter((line) => !/^FROM \$\{NODE_IMAGE\}(?: AS build)?$/.test(line))).toEqual([]);
    expect(read("docs/deployment.md")).toContain(`Node ${/\d+/.exec(base)?.[0]}`);
    expect(of("RUN").some((line) => line.startsWith("RUN npm ci "))).toBe(true);
    expect(of("RUN").filter((line) => /npm i(?:nstall)?\b/.test(line))).toEqual([]);
  });

  it("holds no secret: none is named in it, and what goes in is listed, not what stays out", () => {
    expect([...of("ENV"), ...of("ARG")].filter((line) => /SECRET|PASSWORD|TOKEN|DATABASE_URL|OIDC/.test(line))).toEqual(
      [],
    );
    const rules = read(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(rules[0]).toBe("*");
    const listed = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
    expect(listed.filter((name) => !existsSync(name))).toEqual([]);
    expect(listed.filter((name) => /secret|env|git|countersign|test|node_modules|\*/.test(name))).toEqual([]);
    expect(rules).toEqual(expect.arrayContaining(["**/.env*", "**/node_modules", "**/.countersign"]));
  });

  it("has what the process and its command import", () => {
    const listed =
      read(".dockerignore")
        .match(/^!.+$/gm)
        ?.map((rule) => rule.slice(1)) ?? [];
    const sources = listed.flatMap((name) =>
      statSync(name).isDirectory()
        ? readdirSync(name, { recursive: true, encoding: "utf8" })
            .filter((file) => /\.tsx?$/.test(file) && !/node_modules|generated/.test(file))
            .map((file) => path.join(name, file))
        : /\.ts$/.test(name)
          ? [name]
          : [],
    );
    // Of scripts, only those that build or run; the others show pages to us.
    const needed = sources.filter((file) => !/^scripts\/(?!build|generate\.|ready|start|worker)/.test(file));
    const tops = needed.flatMap((file) => [
      ...[...read(file).matchAll(/from "@\/([\w-]+)/g)].map(([, top = ""]) => top),
      ...(read(file).includes('"@countersign/mcp') ? ["sdk"] : []),
    ]);
    expect([...new Set(tops)].filter((top) => !listed.some((name) => name.replace(/\.\w+$/, "") === top))).toEqual([]);
  });
});

describe("the compose file", () => {
  const compose = read("compose.yaml");
  const common = block(compose, "x-countersign");
  const server = block(block(compose, "services"), "countersign");

  it("gives the process a read-only root, no capability and no way to gain one", () => {
    expect(common).toMatch(/^ {2}read_only: true$/m);
    expect(common).toMatch(/^ {2}cap_drop: \[ALL\]$/m);
    expect(common).toContain("no-new-privileges:true");
    expect(compose.match(/<<: \*countersign/g)).toHaveLength(2);
    expect(compose).not.toMatch(/privileged:|cap_add|network_mode|docker\.sock|user: *"?0/);
  });

  it("publishes to this machine alone, and pins what it pulls", () => {
    const ports = block(server, "ports").match(/\S+:\d+$/gm) ?? [];
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
    expect(block(compose, "postgres")).not.toContain("ports:");
    const images = (compose.match(/^ +image: \S+/gm) ?? []).map((line) => line.trim().slice("image: ".length));
    expect(images.filter((image) => !/^countersign:|^\w+:\d+-\w+$/.test(image))).toEqual([]);
  });

  it("hands secrets out as files, each to whom it is for; the owner of the tables serves nothing", () => {
    expect(compose).not.toMatch(/(?:SECRET|PASSWORD|DATABASE_URL|OWNER_URL): /);
    expect(server).toMatch(/^ +secrets: \[secret, database-url\]$/m);
    expect(server).not.toContain("OWNER");
    const folder = mkdtempSync(path.join(tmpdir(), "countersign-secrets-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const made = path.join(folder, "secrets");
    const make = () => execFileSync("sh", ["packaging/make-secrets.sh", made]);
    make();
    const before = readdirSync(made).map((name) => [name, read(path.join(made, name))]);
    make();
    expect(readdirSync(made).map((name) => [name, read(path.join(made, name))])).toEqual(before);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    const wanted = [...compose.matchAll(/^ +file: \.\/secrets\/(.+)$/gm)].map(([, name]) => name);
    expect(
      readdirSync(made)
        .filter((name) => name !== ".gitignore")
        .sort(),
    ).toEqual(wanted.sort());
    expect(read(path.join(made, ".gitignore"))).toBe("*\n");
    const config = parseConfig({
      COUNTERSIGN_URL: "https://approve.example.com",
      COUNTERSIGN_SECRET_FILE: path.join(made, "secret"),
      DATABASE_URL_FILE: path.join(made, "database-url"),
      DATABASE_OWNER_URL_FILE: path.join(made, "database-owner-url"),
    });
    expect([config.databaseUrl, config.databaseOwnerUrl].map((url) => new URL(url ?? "").username)).toEqual([
      "countersign",
      "countersign_owner",
    ]);
  });

  it("keeps a listener for the health check, puts only pages where the internet is, and waits for a drain", () => {
    const [, text = ""] = /SURFACES: (.+)$/m.exec(server) ?? [];
    const parsed = parseSurfaces(text);
    const listeners = "listeners" in parsed ? parsed.listeners : [];
    const [, port = ""] = /PORT=(\d+)/.exec(of("ENV").join(" ")) ?? [];
    expect([...(listeners.find((listener) => String(listener.port) === port)?.surfaces ?? [])]).toEqual(["pages"]);
    const published = (block(server, "ports").match(/:(\d+)$/gm) ?? []).map((end) => Number(end.slice(1)));
    expect(published).toEqual(listeners.map((listener) => listener.port));
    const [, grace = ""] = /DRAIN_GRACE_SECONDS: "(\d+)"/.exec(server) ?? [];
    const [, stop = ""] = /stop_grace_period: (\d+)s/.exec(server) ?? [];
    expect(Number(stop)).toBeGreaterThan(drainSeconds(Number(grace)));
  });
});

describe("the unit of systemd", () => {
  const unit = read("packaging/countersign.service");
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));

  it("runs as nobody else does, writes its state only, and can gain nothing", () => {
    expect(Object.fromEntries(settings)).toMatchObject({
      DynamicUser: "yes",
      NoNewPrivileges: "yes",
      CapabilityBoundingSet: "",
      ProtectSystem: "strict",
      ProtectHome: "yes",
      PrivateTmp: "yes",
      StateDirectory: "countersign",
      StateDirectoryMode: "0700",
    });
    expect(unit).not.toMatch(/^(?:User=root|ReadWritePaths|Environment=.*(?:SECRET|DATABASE_URL)=)/m);
    expect(unit.match(/^LoadCredential=(\w[\w-]*):/gm)).toHaveLength(2);
  });

  it("waits for a drain, and starts again what has failed", () => {
    const { drainGraceSeconds } = parseConfig({ COUNTERSIGN_URL: "https://approve.example.com" });
    expect(Number(settings.get("TimeoutStopSec"))).toBeGreaterThan(drainSeconds(drainGraceSeconds));
    expect(settings.get("Restart")).toBe("on-failure");
  });
});

describe("the proxies' examples", () => {
  it.each(["nginx.conf", "Caddyfile"])("%s: the internet reaches pages only, waits fit, and bodies", (name) => {
    const text = read(`packaging/${name}`);
    const [, surfacesText = ""] = /SURFACES="([^"]+)"/.exec(text) ?? [];
    const parsed = parseSurfaces(surfacesText);
    const listeners = "listeners" in parsed ? parsed.listeners : [];
    const leadsTo = [...text.matchAll(/(?:server|to_countersign) 127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
    expect(leadsTo).toEqual(listeners.slice(0, 2).map(({ port }) => port));
    expect([...(listeners[0]?.surfaces ?? [])]).toEqual(["pages"]);
    expect([...(listeners[1]?.surfaces ?? [])]).not.toContain("metrics");
    const timeouts = [...text.matchAll(/(?:proxy_read_timeout|response_header_timeout) (\d+)s/g)].map(([, s]) =>
      Number(s),
    );
    expect(timeouts.length).toBeGreaterThan(0);
    expect(timeouts.filter((seconds) => seconds < 60)).toEqual([]);
    const limits = [...text.matchAll(/(?:client_max_body_size|max_size) (\d+)k/gi)].map(([, kilo]) => Number(kilo));
    expect(limits.length).toBeGreaterThan(0);
    expect(limits.filter((kilo) => kilo * 1000 <= 131_072)).toEqual([]);
  });
});
