import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Block, readBlocks } from "../../scripts/check-docs.ts";
import { version } from "../../src/version.ts";

/*
 * The way of a new user, from `npm pack` in an empty folder: runs docs/first-steps.md, docs/tested-prompt.md and the beginning of the README as they stand,
 * on the oldest Node that llm-do takes and on this one. Needs npm's registry; without it the tests are skipped, unless CI is set.
 */

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "llm-do-walk-"));
/** npm's own settings of the tests' process name this repository; these few say how the registry is reached. */
const kept = /^(?!npm_|LLM_DO_)(?!NODE_(?:OPTIONS|PATH)$)|^npm_config_(?:registry|cache|userconfig|globalconfig|cafile)$/i;
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name))),
  LLM_DO_STATE_DIR: join(folder, "state"),
  NO_COLOR: "1",
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
};
const systemPath = (process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.includes("node_modules"));

const isReachable =
  npm(["view", "zod", "version", "--no-prefer-offline", "--fetch-retries=0", "--fetch-timeout=5000"]).status === 0;
const isSkipped = process.platform === "win32" || (!isReachable && !process.env["CI"]);

afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

function npm(args: readonly string[], cwd: string = folder) {
  return spawnSync("npm", args, { cwd, encoding: "utf8", env: environment, shell: process.platform === "win32" });
}

/** The file of another Node: the system's, where it is of this version, or that of Node's own package for this platform. */
function findNode(nodeVersion: string): string {
  const PATH = systemPath.join(delimiter);
  const system = spawnSync("node", ["-p", "[process.version, process.execPath].join()"], { encoding: "utf8", env: { PATH } });
  const [version, path] = (system.stdout ?? "").trim().split(",");
  if (version === `v${nodeVersion}` && path !== undefined) return path;
  // The file alone: to install the package takes three times the processor time.
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const packed = npm(["pack", "--silent", `${prefix}-${process.platform}-${process.arch}@${nodeVersion}`]);
  expect({ stderr: packed.stderr, status: packed.status }).toMatchObject({ status: 0 });
  const unpacked = join(folder, nodeVersion);
  mkdirSync(unpacked);
  spawnSync("tar", ["-xzf", join(folder, packed.stdout.trim()), "-C", unpacked, "--strip-components=2", "package/bin/node"]);
  return join(unpacked, "node");
}

describe.skipIf(isSkipped)("a new user", () => {
  let tarball = "";
  const nodes = join(folder, "nodes");

  beforeAll(() => {
    if (!existsSync(join(root, "dist/index.js"))) throw new Error("there is no dist/: run `npm run build` first");
    const packed = npm(["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], root);
    tarball = join(folder, packed.stdout.trim());
    const files = { old: findNode("20.20.2"), oldest: findNode("22.18.0"), current: process.execPath };
    for (const [name, file] of Object.entries(files)) {
      mkdirSync(join(nodes, name), { recursive: true });
      symlinkSync(file, join(nodes, name, "node"));
    }
  }, 120_000);

  /** Installs from the tarball once, on the oldest Node; the other one takes the installed folder. */
  function adapt(script: string, node: string): string {
    const isThere = existsSync(join(folder, node, "node_modules/llm-do"));
    const first = node === "current" ? "mv ../oldest/node_modules . #" : `npm install --silent '${tarball}'`;
    const install = !isThere ? first : node === "current" ? "true" : "npm install --silent";
    const written = script.replace("npm install llm-do", install);
    // npx takes most of a command's time: the first commands of one Node show that it works.
    const isFirst = node === "old" || (node === "oldest" && /npm install|llm-do init/.test(written));
    return isFirst ? written : written.replaceAll("npx llm-do", "llm-do");
  }

  /** Runs a script of a page with one Node. */
  function shell(script: string, { cwd, node }: { readonly cwd: string; readonly node: string }) {
    const path = [join(nodes, node), join(folder, node, "node_modules/.bin"), ...systemPath];
    const env = { ...environment, PATH: path.join(delimiter) };
    const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", adapt(script, node)], {
      cwd,
      encoding: "utf8",
      env,
      input: "",
    });
    return { status, stdout, stderr };
  }

  test.each(["oldest", "current"])(
    "goes through the tutorials on the %s Node, and through the README",
    (node) => {
      const cwd = join(folder, node);
      mkdirSync(cwd);
      const said = walk(blocksOf("docs/first-steps.md"), (block) => shell(block.text, { cwd, node }), cwd);
      expect(said).toContain(`${version}\n`);
      const [kilobytes = ""] = spawnSync("du", ["-sk", join(cwd, "node_modules")], { encoding: "utf8" }).stdout.split("\t");
      expect(Number(kilobytes)).toBeLessThan(75_000);
      expect(said).toContain(`  ${node === "oldest" ? "npx " : ""}llm-do words --model scripted:words/scripted.ts --trust`);
      expect(said).toContain("input/notes.txt: 31 words\nYou asked:");
      expect(said).toContain("--approve 'main/write_file'");
      expect(readFileSync(join(cwd, "actions/out/actions.md"), "utf8")).toBe("- Ada: order the parts, by Friday\n");
      expect(said).toContain("error[unknown-key]: unknown key `toolset`\n --> broken/main.worker:3:1");
      expect(said).toContain("did you mean `toolsets`?");
      expect(said).toMatch(/main > write_file#2 gave /);
      expect(said).toMatch(/^\/.*\/runs\/actions-[0-9a-f]{16}\/.*\.html$/m);
      if (node === "oldest") {
        const tested = walk(blocksOf("docs/tested-prompt.md"), (block) => shell(block.text, { cwd, node }), cwd);
        expect(tested).toContain("main, turn 1: the instructions changed at line 1");
        expect(tested).toContain("passed 16 of 20 runs, 80 %, 95 % interval 58 % to 92 %");
      }

      const [tries, , worker, runs] = blocksOf("README.md");
      expect([tries?.language, worker?.language, runs?.language]).toEqual(["sh", "worker", "sh"]);
      cpSync(join(cwd, "node_modules/llm-do/examples/meeting_actions"), join(cwd, "examples/meeting_actions"), {
        recursive: true,
      });
      const tried = shell(tries?.text.replace("npm ci && ", "") ?? "", { cwd, node });
      const written = readFileSync(join(cwd, "examples/meeting_actions/output/actions.md"), "utf8");
      expect({ ...tried, written }).toMatchObject({
        status: 0,
        written: expect.stringContaining("- Ada: orders the badges, by Friday"),
      });
      const script = "scripted:examples/meeting_actions/scripted.ts";
      const asked = shell(runs?.text.replace(/--model \S+/, `--model ${script}`) ?? "", { cwd, node });
      expect(asked).toMatchObject({ status: 4, stdout: expect.stringContaining("Nothing was written") });

      if (node !== "current") return;
      const old = shell("npx llm-do words", { cwd, node: "old" });
      expect(old).toMatchObject({ status: 2, stdout: "" });
      expect(old.stderr).toMatch(/^llm-do needs Node 22\.18 or newer, and this is 20\.20\.2\. Run: npx -p node@24 .*$/m);
    },
    400_000,
  );
});

/** Writes the files of a page, runs its `walk` blocks in order, and returns what they printed. */
function walk(blocks: readonly Block[], run: (block: Block) => Said, cwd: string): string {
  let said = "";
  for (const block of blocks) {
    const file = block.marks.get("file");
    if (file !== undefined) write(join(cwd, file), block.text);
    if (!block.marks.has("walk")) continue;
    const { status, stdout, stderr } = run(block);
    expect({ line: block.line, stderr, status }).toMatchObject({
      line: block.line,
      status: Number(block.marks.get("exit") ?? 0),
    });
    said += `${stdout}${stderr}`;
  }
  return said;
}

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function blocksOf(page: string): readonly Block[] {
  return readBlocks(readFileSync(join(root, page), "utf8"));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
