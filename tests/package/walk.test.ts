import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Block, readBlocks } from "../../scripts/check-docs.ts";
import { createEnvironment, findNode, isSkipped, npm, root, systemPath } from "./npm.ts";

/*
 * The way of a new user, from `npm pack` in an empty folder: runs docs/first-steps.md, docs/tested-prompt.md and the beginning of the README as they stand,
 * on the oldest Node that llm-do takes and on this one. Needs npm's registry; without it the tests are skipped, unless CI is set.
 */

const folder = mkdtempSync(join(tmpdir(), "llm-do-walk-"));
const environment = createEnvironment(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

describe.skipIf(isSkipped)("a new user", () => {
  let tarball = "";
  const nodes = join(folder, "nodes");

  beforeAll(() => {
    if (!existsSync(join(root, "dist/index.js"))) throw new Error("there is no dist/: run `npm run build` first");
    const packed = npm(["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: root, env: environment });
    tarball = join(folder, packed.stdout.trim());
    const files = { old: findNode("20.20.2", folder), oldest: findNode("22.18.0", folder), current: process.execPath };
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

  /** The README: a program of one's own by the lines that it names, and the first command for a clone without a clone. */
  function walkReadme(place: { readonly cwd: string; readonly node: string }): void {
    const [first = "", own = "", tool = "", unattended = "", tries = ""] = blocksOf("README.md").map(({ text }) => text);
    expect(shell("cp -r node_modules/llm-do/examples . && rm -r mine count", place)).toMatchObject({ status: 0 });
    const tried = shell(tries.replace("npm ci && ", ""), place);
    const written = readFileSync(join(place.cwd, "examples/meeting_actions/output/actions.md"), "utf8");
    expect({ ...tried, written }).toMatchObject({
      status: 0,
      written: expect.stringContaining("- Ada: orders the badges, by Friday"),
    });
    // There is no terminal: the write is denied, and the run ends with "needs approval".
    expect(shell(first, place)).toMatchObject({ status: 4, stderr: expect.stringContaining("--approve-all") });
    const mine = join(place.cwd, "mine");
    write(join(mine, "notes/monday.md"), "Bob asks for the key.\n");
    changeLine(join(mine, "main.worker"), "Read every file", "Read `notes`. Write the wishes to `out/list.md`.");
    changeLine(join(mine, "script.yaml"), "Who orders", "            A key for Bob.");
    expect(shell(own, place)).toMatchObject({ status: 0, stdout: expect.stringContaining("1 passed, 0 failed") });
    expect(readFileSync(join(mine, "out/list.md"), "utf8")).toBe("A key for Bob.\n");
    expect(shell(tool, place)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^3$/m) });
    expect(shell(unattended, place)).toMatchObject({ status: 0 });
  }

  test.each(["oldest", "current"])(
    "goes through the tutorials on the %s Node, and through the README",
    (node) => {
      const cwd = join(folder, node);
      mkdirSync(cwd);
      const said = walk(blocksOf("docs/first-steps.md"), (block) => shell(block.text, { cwd, node }), cwd);
      const [kilobytes = ""] = spawnSync("du", ["-sk", join(cwd, "node_modules")], { encoding: "utf8" }).stdout.split("\t");
      expect(Number(kilobytes)).toBeLessThan(70_000);
      expect(said).toContain(`without a key:\n  ${node === "oldest" ? "npx " : ""}llm-do mine\n`);
      expect(said).toContain("I am done with the notes.\n");
      expect(said).toContain("I am done with the notes.\nOrder the parts by Friday.\n");
      expect(said).toMatch(/^3$/m);
      expect(said).toContain("--approve 'main/write_file(out/*)'");
      expect(readFileSync(join(cwd, "mine/out/list.md"), "utf8")).toBe("Order the parts by Friday.\n");
      expect(said).toContain("error[unknown-key]: unknown key `toolset`\n --> broken/main.worker:3:1");
      expect(said).toContain("did you mean `toolsets`?");
      expect(said).toMatch(/main > write_file#1 gave /);
      expect(said).toMatch(/^\/.*\/runs\/mine-[0-9a-f]{16}\/.*\.html$/m);
      if (node === "oldest") {
        const tested = walk(blocksOf("docs/tested-prompt.md"), (block) => shell(block.text, { cwd, node }), cwd);
        expect(tested).toContain("main.worker:9: main, turn 1: the instructions changed: ");
        expect(tested).toContain("passed 16 of 20 runs, 80 %, 95 % interval 58 % to 92 %");
      }

      walkReadme({ cwd, node });

      if (node !== "current") return;
      const old = shell("npx llm-do mine", { cwd, node: "old" });
      expect(old).toMatchObject({ status: 2, stdout: "" });
      expect(old.stderr).toMatch(/^llm-do needs Node 22\.18 or newer, and this is 20\.20\.2\. Run: npx -p node@24 .*$/m);
    },
    400_000,
  );
});

/** Replaces the line of a file that begins with some words. */
function changeLine(file: string, begins: string, line: string): void {
  const lines = readFileSync(file, "utf8").split("\n");
  const place = lines.findIndex((text) => text.trimStart().startsWith(begins));
  expect(place, file).toBeGreaterThanOrEqual(0);
  writeFileSync(file, lines.with(place, line).join("\n"));
}

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
