import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect } from "vitest";

export const root = resolve(import.meta.dirname, "../..");

/** npm's own settings of the tests' process name this repository; these few say how the registry is reached. */
const kept = /^(?!npm_|LLM_DO_)(?!NODE_(?:OPTIONS|PATH)$)|^npm_config_(?:registry|cache|userconfig|globalconfig|cafile)$/i;

/** The PATH without this repository's own commands. */
export const systemPath = (process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.includes("node_modules"));

export function createEnvironment(folder: string): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name))),
    LLM_DO_STATE_DIR: join(folder, "state"),
    NO_COLOR: "1",
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
}

const anywhere = mkdtempSync(join(tmpdir(), "llm-do-npm-"));

export function npm(args: readonly string[], { cwd = anywhere, env = createEnvironment(cwd) } = {}) {
  return spawnSync("npm", args, { cwd, encoding: "utf8", env, shell: process.platform === "win32" });
}

const isReachable =
  npm(["view", "zod", "version", "--no-prefer-offline", "--fetch-retries=0", "--fetch-timeout=5000"]).status === 0;

/** Without the registry these tests are skipped, unless CI is set. */
export const isSkipped = process.platform === "win32" || (!isReachable && !process.env["CI"]);

/** The file of another Node: the system's, where it is of this version, or that of Node's own package for this platform. */
export function findNode(nodeVersion: string, folder: string): string {
  const PATH = systemPath.join(delimiter);
  const system = spawnSync("node", ["-p", "[process.version, process.execPath].join()"], { encoding: "utf8", env: { PATH } });
  const [version, path] = (system.stdout ?? "").trim().split(",");
  if (version === `v${nodeVersion}` && path !== undefined) return path;
  // The file alone: to install the package takes three times the processor time.
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const packed = npm(["pack", "--silent", `${prefix}-${process.platform}-${process.arch}@${nodeVersion}`], { cwd: folder });
  expect({ stderr: packed.stderr, status: packed.status }).toMatchObject({ status: 0 });
  const unpacked = join(folder, nodeVersion);
  spawnSync("mkdir", ["-p", unpacked]);
  spawnSync("tar", ["-xzf", join(folder, packed.stdout.trim()), "-C", unpacked, "--strip-components=2", "package/bin/node"]);
  return join(unpacked, "node");
}
