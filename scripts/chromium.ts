import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const known = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/opt/google/chrome/chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The browser to drive: `CHROMIUM_PATH`, else the first at a usual place, else undefined. */
export function findChromium(): string | undefined {
  const named = process.env["CHROMIUM_PATH"];
  if (named) return existsSync(named) ? named : undefined;
  return known.find((path) => existsSync(path));
}

/**
 * As `findChromium`; on Debian and its kin, and as root, it is installed where it is missing, with a font for Japanese.
 * Throws an error that names what to install.
 */
export function ensureChromium(): string {
  const isDebianRoot = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  const missing = [...(findChromium() ? [] : ["chromium"]), ...(hasJapaneseFont() ? [] : ["fonts-noto-cjk"])];
  if (missing.length > 0 && isDebianRoot) install(missing);
  const found = findChromium();
  if (!found)
    throw new Error(
      "No Chromium or Chrome was found. Install one (Debian: apt-get install chromium) or set CHROMIUM_PATH to its executable.",
    );
  if (!hasJapaneseFont())
    throw new Error("No font for Japanese was found. Install one (Debian: apt-get install fonts-noto-cjk).");
  return found;
}

/** As root Chromium has no sandbox; what it loads are our own pages on loopback. */
export function chromiumArgs(): string[] {
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return [
    ...root,
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
}

function hasJapaneseFont(): boolean {
  if (process.platform !== "linux") return true;
  const listed = spawnSync("fc-list", [":lang=ja", "family"], { encoding: "utf8" });
  return listed.status === 0 && listed.stdout.trim() !== "";
}

function install(packages: string[]): void {
  process.stderr.write(`Installing ${packages.join(" and ")} with apt-get\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { stdio: ["ignore", "ignore", "inherit"], env });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    stdio: ["ignore", "ignore", "inherit"],
    env,
  });
}
