import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../../src/host/node-host.ts";
import type { ScriptedCall } from "../../../src/testing/index.ts";
import { bin, runCli, script as scriptOf, writeProgram } from "../../cli/run-cli.ts";
import { attack, World, worker } from "../world.ts";

const touch = { tool: "shell", args: { command: "touch made", cwd: "work" } };
const paths = "sandbox: { paths: { work: { root: ./work, mode: rw, write_approval: false } } }";
const allowing = "shell: { rules: [{ pattern: '*', approval_required: false }], default: { approval_required: false } }";

interface Grant {
  readonly title: string;
  readonly main: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly call?: ScriptedCall;
  readonly rules?: readonly string[];
}

const child = worker(`description: d\n${paths}\ntoolsets: { ${allowing} }`);
const passChild = "child: { _approval_config: { child: { pre_approved: true } } }";
/** All that files and an ordinary rule can say to let a command run. */
const grants: readonly Grant[] = [
  { title: "a rule", main: "shell: { rules: [{ pattern: touch, approval_required: false }] }" },
  { title: "a rule for everything", main: "shell: { rules: [{ pattern: '*', approval_required: false }] }" },
  { title: "a rule with the whole command", main: "shell: { rules: [{ pattern: touch made, approval_required: false }] }" },
  { title: "the default", main: "shell: { default: { approval_required: false } }" },
  {
    title: "a rule for its paths",
    main: "shell: { rules: [{ pattern: touch, approval_required: false, sandbox_paths: [work] }] }",
  },
  {
    title: "`pre_approved` of the tool",
    main: "shell: { rules: [{ pattern: touch }], _approval_config: { shell: { pre_approved: true } } }",
  },
  {
    title: "`pre_approved` of all tools",
    main: "shell: { rules: [{ pattern: touch }], _approval_config: { '*': { pre_approved: true } } }",
  },
  {
    title: "both",
    main: "shell: { rules: [{ pattern: touch, approval_required: false }], _approval_config: { '*': { pre_approved: true } } }",
  },
  { title: "a rule of the run for the tool", main: "shell: { rules: [{ pattern: touch }] }", rules: ["shell"] },
  { title: "a rule of the run for the command", main: "shell: { rules: [{ pattern: touch }] }", rules: ["main/shell(touch *)"] },
  { title: "rules everywhere", main: `${allowing}`, rules: ["*/*", "shell(*)"] },
  { title: "a child's rules", main: passChild, files: { "child.worker": child }, call: { tool: "child", args: { input: "go" } } },
  {
    title: "an instance with a prefix",
    main: "mine: { _use: shell, _prefix: my, rules: [{ pattern: touch, approval_required: false }] }",
    call: { tool: "my_shell", args: touch.args },
  },
  {
    title: "two commands in one line",
    main: allowing,
    call: { tool: "shell", args: { command: "true && touch made", cwd: "work" } },
  },
  { title: "a pipe", main: allowing, call: { tool: "shell", args: { command: "echo x | tee made", cwd: "work" } } },
  { title: "looks", main: "shell: { looks: allowed }" },
  {
    title: "effects",
    main: "shell: { rules: [{ pattern: touch, writes: [work], approval_required: false }] }",
    call: { tool: "shell", args: { ...touch.args, writes: ["work"] } },
  },
  {
    title: "more words than a rule with `unisolated` has",
    main: "shell: { rules: [{ pattern: touch, unisolated: true, approval_required: false }] }",
  },
];

/** The command that is the pattern, word for word. */
const spelt: Grant = {
  title: "a rule with `unisolated`",
  main: "shell: { rules: [{ pattern: touch made, unisolated: true, approval_required: false }] }",
};

describe("where nothing isolates commands, what files and rules allow", () => {
  test.each([...grants, spelt])("$title: does not run", async (grant) => {
    const { main, files = {}, call = touch, rules } = grant;
    for (const unisolated of [false, true]) {
      const world = new World({ "main.worker": worker(`${paths}\ntoolsets: { ${main} }`), "work/x": "", ...files });
      const host = createNodeHost({
        environment: { PATH: process.env["PATH"], LLM_DO_STATE_DIR: world.at("state") },
        workingDirectory: world.at("program"),
        homeDirectory: world.at("home"),
        wall: false,
      });
      const { error } = await attack(world, {
        model: ({ turn, worker: name }) => (turn > 1 ? "done" : { calls: [name === "child" ? touch : call] }),
        approval: {
          mode: "prompt",
          unisolated,
          ...(rules ? { rules: rules.map((rule) => ({ rule, effect: "allow" as const })) } : {}),
        },
        request: { host },
      });
      expect(error).toBeUndefined();
      expect(existsSync(world.at("program/work/made"))).toBe(unisolated && grant === spelt);
    }
  });
});

/** The real command on a machine whose bubblewrap cannot be used: hidden, without a namespace that is left, or not the real one. */
const bubblewrap = "/usr/bin/bwrap";
const hiding = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", bubblewrap, process.execPath];
const exhausting = ["-Ur", "bash", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "bash", process.execPath, bin];

interface Machine {
  readonly title: string;
  readonly node: string;
  readonly first: readonly string[];
  /** Put first on the PATH, below the program's folder. */
  readonly path?: string;
}

const machines: readonly Machine[] = [
  { title: "bubblewrap is hidden", node: bubblewrap, first: [...hiding, bin] },
  { title: "no namespace is left", node: "unshare", first: exhausting },
  {
    title: "a program's own `bwrap` is on the PATH, in a folder of packages",
    node: bubblewrap,
    first: [...hiding, bin],
    path: "node_modules/.bin",
  },
  { title: "and in a folder that its commands can write", node: bubblewrap, first: [...hiding, bin], path: "work/bin" },
];

/** Says that it is what it is not, and runs what it was given as it stands. */
const impostor = `#!/bin/bash
if [ "$1" = --help ]; then echo "--bind-fd"; exit; fi
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
shift; cd PROGRAM/work 2>/dev/null; exec "$@"
`;

const plain = (frontmatter: string) => ({
  "main.worker": `---\nmodel: scripted:model.yaml\n${frontmatter}\n---\nGo.\n`,
  "model.yaml": scriptOf({ main: [{ calls: [touch] }, "done"] }),
  "work/x": "",
});

const canUnshare = (() => {
  try {
    execFileSync("unshare", ["-Ur", "true"], { stdio: "ignore" });
    return existsSync(bubblewrap);
  } catch {
    process.stderr.write("\n*** a machine without a wall is not tested: no unshare, or no bubblewrap to hide ***\n\n");
    return false;
  }
})();

async function start({ node, first, path }: Machine, files: Readonly<Record<string, string>>, words: readonly string[]) {
  const cwd = await writeProgram(files);
  const [, ...rest] = [node, ...first];
  if (path !== undefined) {
    mkdirSync(join(cwd, path), { recursive: true });
    writeFileSync(join(cwd, path, "bwrap"), impostor.replace("PROGRAM", cwd), { mode: 0o755 });
  }
  const env = path === undefined ? {} : { PATH: `${join(cwd, path)}:${process.env["PATH"]}` };
  const [head = "", ...args] = rest;
  const result = await runCli([...args, ...words], { cwd, node, bin: head, env });
  return { ...result, made: existsSync(join(cwd, "work/made")) };
}

const free = `${paths}\ntoolsets: { ${allowing} }`;
const writing = `${paths}\ntoolsets: { shell: { rules: [{ pattern: touch, writes: [work], approval_required: false }] } }`;

describe.skipIf(!canUnshare)("the command line where", { timeout: 30_000 }, () => {
  describe.each(machines)("$title", (machine) => {
    test("an unattended run is denied it, and leaves with 4", async () => {
      const { exitCode, made, stderr } = await start(machine, plain(free), [".", "go", "--trust", "--approve", "shell"]);
      expect({ exitCode, made }).toEqual({ exitCode: 4, made: false });
      expect(stderr).toContain("not isolated");
    });
  });

  const [hidden] = machines as [Machine];
  const call = ["verdict", ".", "shell", JSON.stringify(touch.args), "--json", "--trust"];
  const check = ["check", "--headless", "--trust"];
  const go = [".", "go", "--trust"];
  const asked = `${paths}\ntoolsets: { shell: { rules: [{ pattern: touch, approval_required: true }] } }`;
  const required = free.replace("sandbox: {", "sandbox: { required: true,");

  /** Returns the answers of `verdict`, `check --headless` and the run for the same program. */
  test.each([
    ["what rules allow", free, [], { verdict: "ask", check: 4, run: 4, made: false }],
    // `check` says 0 where it depends on the arguments: other commands are blocked.
    ["what a rule asks for, with --unisolated", asked, ["--unisolated"], { verdict: "ask", check: 0, run: 4, made: false }],
    [
      "what must be isolated, with --unisolated",
      required,
      ["--unisolated"],
      { verdict: undefined, check: 2, run: 2, made: false },
    ],
  ] as const)("%s", async (_, frontmatter, flags, expected) => {
    const files = plain(frontmatter);
    const [judged, checked, ran] = await Promise.all(
      [call, check, go].map((words) => start(hidden, files, [...words, ...flags])),
    );
    const { verdict } = JSON.parse(judged?.stdout || "{}") as { verdict?: string };
    expect({ verdict, check: checked?.exitCode, run: ran?.exitCode, made: ran?.made }).toEqual(expected);
  });

  test("the last namespace goes while a run is under way: what was judged as isolated does not run", async () => {
    const model = `import { writeFileSync } from "node:fs";
export default ({ turn }) => {
  if (turn === 2) writeFileSync("/proc/sys/user/max_user_namespaces", "0");
  const command = turn === 1 ? "touch first" : "touch made";
  return turn > 2 ? "done" : { calls: [{ tool: "shell", args: { command, cwd: "work", writes: ["work"] } }] };
};`;
    const files = { ...plain(writing), "model.ts": model };
    const main = files["main.worker"].replace("model.yaml", "./model.ts");
    const first = ["-Ur", "bash", "-c", 'exec "$@"', "bash", process.execPath, bin];
    const cwd = await writeProgram({ ...files, "main.worker": main });
    const { stderr, exitCode } = await runCli([...first.slice(1), ".", "go", "--trust", "-v"], {
      cwd,
      node: "unshare",
      bin: "-Ur",
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("it could not be isolated") });
    expect(readdirSync(join(cwd, "work")).sort()).toEqual(["first", "x"]);
  });
});
