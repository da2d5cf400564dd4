import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/index.ts";
import { approveAll, attack, canary, outcome, untouched, World, worker } from "./world.ts";

/** Everything is approved, and what is not is approved beforehand: only the walls are left. */
const scoped = worker(`
sandbox: { paths: { out: { root: ./out, mode: rw, write_approval: false }, in: { root: ./in } } }
toolsets: { filesystem: {} }
`);

function create(): World {
  const world = new World({ "main.worker": scoped, "out/file": "mine", "in/file": "mine" });
  world.put("program/out-secret/file", canary);
  return world;
}

/** Each of the file tools, aimed at one path. */
function everyTool(path: string) {
  return [
    { tool: "read_file", args: { path } },
    { tool: "write_file", args: { path, content: "evil" } },
    { tool: "append_file", args: { path, content: "evil" } },
    { tool: "edit_file", args: { path, old_text: "canary", new_text: "evil" } },
    { tool: "list_files", args: { path } },
    { tool: "search_files", args: { path, regex: "canary" } },
  ];
}

async function expectHarmless(world: World, paths: readonly string[]): Promise<readonly string[]> {
  const { error, results } = await attack(world, { model: paths.map(everyTool) });
  expect(error).toBeUndefined();
  expect(results).toHaveLength(paths.length * 6);
  // Arguments that name the canary come back in no error either.
  expect(JSON.stringify(results)).not.toContain(canary);
  expect(JSON.stringify(results)).not.toContain(world.root);
  expect(world.outside()).toEqual(untouched);
  expect(world.read("program/out-secret/file")).toBe(canary);
  return results.map(outcome);
}

describe("a path that looks like one of a scope", () => {
  test("neither reads nor writes a sibling whose name begins alike", async () => {
    const world = create();
    const outcomes = await expectHarmless(world, [
      "out-secret/file",
      "out-secret",
      "out:../out-secret/file",
      "out/../out-secret/file",
      "./out/../out-secret/file",
      "out/./../out-secret",
      `${world.root}/program/out-secret/file`,
    ]);
    expect(new Set(outcomes)).toEqual(new Set(["path_outside_scope"]));
    expect(readdirSync(world.at("program/out"))).toEqual(["file"]);
  });

  test("rejects every spelling that leads out: dots, escapes, slashes of other alphabets, drives, URLs", async () => {
    const world = create();
    const spellings = [
      "out/../../outside/file",
      "out/..%2f..%2foutside/file",
      "out/%2e%2e/%2e%2e/outside/file",
      "out/..\u2215..\u2215outside/file",
      "out/．．/．．/outside/file",
      "out/.\u200b./.\u200b./outside/file",
      "out\\..\\..\\outside\\file",
      "out/\0/../../outside/file",
      "out/file\0.txt",
      "~/../outside/file",
      "out/~/../../../outside/file",
      "C:/outside/file",
      "file:///outside/file",
      `file://${world.root}/outside/file`,
      "/proc/self/cwd/outside/file",
      `//localhost${world.root}/outside/file`,
    ];
    await expectHarmless(world, spellings);
  });

  test("keeps patterns of lists and searches below the folder", async () => {
    const world = create();
    const patterns = ["../outside/*", "../**", "/**", `${world.root}/**`, "{..,.}/outside/*", "**/../../outside/*", "[.][.]/**"];
    const calls = patterns.flatMap((pattern) => [
      { tool: "list_files", args: { path: "out", pattern } },
      { tool: "search_files", args: { path: "out", regex: "canary", pattern } },
    ]);
    const { results } = await attack(world, { model: [calls] });
    expect(results).toHaveLength(calls.length);
    expect(JSON.stringify(results.map(({ result }) => (result.ok ? result.value : "")))).not.toMatch(/canary|outside|secret/);
  });
});

describe("links", () => {
  test("follows no link below a scope, with any tool", async () => {
    const world = create();
    const links = {
      file: world.at("outside/file"),
      folder: world.at("outside"),
      sibling: "../out-secret",
      up: "..",
      root: "/",
      self: "/proc/self/root",
      new: world.at("outside/new"),
      chain: "folder",
    };
    mkdirSync(world.at("program/out/links"));
    for (const [name, target] of Object.entries(links)) symlinkSync(target, world.at(`program/out/links/${name}`));
    const outcomes = await expectHarmless(world, [
      "out/links/file",
      "out/links/folder",
      "out/links/folder/file",
      "out/links/folder/deep/new",
      "out/links/sibling/file",
      "out/links/up/out-secret/file",
      `out/links/root${world.root}/outside/file`,
      `out/links/self${world.root}/outside/file`,
      "out/links/new",
      "out/links/chain/file",
    ]);
    expect(new Set(outcomes)).toEqual(new Set(["path_outside_scope"]));
  });

  test("refuses a link with a harmless name to a file that asks", async () => {
    const world = new World({
      "main.worker": worker("toolsets: { filesystem: { _approval_config: { '*': { pre_approved: true } } } }"),
      ".env": canary,
      ".git/config": canary,
    });
    symlinkSync(".env", world.at("program/notes.txt"));
    symlinkSync(".git", world.at("program/notes"));
    symlinkSync("main.worker", world.at("program/draft.md"));
    const paths = ["notes.txt", "notes/config", "draft.md"];
    const { results } = await attack(world, { model: paths.map(everyTool) });
    expect(JSON.stringify(results)).not.toContain(canary);
    expect(results.map(outcome).every((type) => type === "path_outside_scope")).toBe(true);
    expect([world.read("program/.env"), world.read("program/.git/config")]).toEqual([canary, canary]);
    expect(world.read("program/main.worker")).not.toContain("evil");
  });

  test("does not write through a hard link to a file outside", async () => {
    const world = create();
    linkSync(world.at("outside/file"), world.at("program/out/hard"));
    const calls = everyTool("out/hard").filter(({ tool }) => /write|append|edit/.test(tool));
    const { results } = await attack(world, { model: calls.map((call) => [call]) });
    expect(results.map(outcome)).toContain("ok");
    expect(world.outside()).toEqual(untouched);
    expect(world.read("program/out/hard")).toContain("evil");
  });
});

describe("special files", () => {
  test("refuses a pipe, a socket and devices at once, with every tool", async () => {
    const world = create();
    execFileSync("mkfifo", [world.at("program/out/pipe")]);
    symlinkSync("/dev/zero", world.at("program/out/zero"));
    const started = performance.now();
    const { results } = await attack(world, { model: [everyTool("out/pipe"), everyTool("out/zero"), everyTool("out/pipe/x")] });
    expect(results).toHaveLength(18);
    expect(results.map(outcome)).not.toContain("ok");
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe("the checked file is the used file", () => {
  const spellings = [
    ["out/plain", "out/plain"],
    ["out/a//double", "out/a/double"],
    ["./out/dot", "out/dot"],
    ["out/./inner", "out/inner"],
    ["out:colon", "out/colon"],
    ["out/ leading", "out/ leading"],
    ["out/trailing ", "out/trailing "],
    ["out/dots...", "out/dots..."],
    ["out/e\u0301", "out/e\u0301"],
    ["out/\u00e9", "out/\u00e9"],
    ["out/ﬁ", "out/ﬁ"],
    ["out/%41", "out/%41"],
    ["out/--output=x", "out/--output=x"],
    ["out/-rf", "out/-rf"],
    ["out/$(touch x)", "out/$(touch x)"],
    ["out/UPPER", "out/UPPER"],
    ["out/a\u202eb", "out/a\u202eb"],
  ] as const;

  test("makes a file under exactly the name that was shown, byte for byte", async () => {
    const asking = scoped.replace("write_approval: false", "write_approval: true");
    const world = new World({ "main.worker": asking });
    const shown: string[] = [];
    const approver = async ({ args }: ApprovalRequest) => {
      shown.push(String(args["path"]));
      return { type: "approve" } as const;
    };
    mkdirSync(world.at("program/in"));
    const calls = spellings.map(([path]) => ({ tool: "write_file", args: { path, content: "x" } }));
    const { results } = await attack(world, { model: calls.map((call) => [call]), approval: { mode: "prompt", approver } });
    expect(results.map(outcome)).toEqual(spellings.map(() => "ok"));
    expect(shown).toEqual(spellings.map(([, canonical]) => canonical));
    expect(world.files("program").filter((name) => name.startsWith("out/"))).toEqual(shown.toSorted());
    expect(world.outside()).toEqual(untouched);
  });

  test("rejects scopes with blanks, other case or other Unicode forms", async () => {
    const world = create();
    const outcomes = await expectHarmless(world, [
      " out/file",
      "out /file",
      "OUT/file",
      "Out/file",
      "ｏｕｔ/file",
      "o\u200but/file",
    ]);
    expect(new Set(outcomes)).toEqual(new Set(["path_outside_scope"]));
  });

  test("applies suffixes in any case, to the name that is opened", async () => {
    const world = new World({
      "main.worker": worker(
        "sandbox: { paths: { out: { root: ./out, mode: rw, suffixes: [.txt], write_approval: false } } }\ntoolsets: { filesystem: {} }",
      ),
    });
    const names = ["a.TXT", "b.txt.exe", "c.txt ", "d.txt.", "e.txt\u200b", "f.txt/g", "h.tx\u0131"];
    const calls = names.map((name) => ({ tool: "write_file", args: { path: `out/${name}`, content: "x" } }));
    const { results } = await attack(world, { model: [calls] });
    expect(world.files("program").filter((name) => name.startsWith("out/"))).toEqual(["out/a.TXT"]);
    expect(results.map(outcome).filter((type) => type === "ok")).toHaveLength(1);
  });
});

describe("names that steer a program or a machine", () => {
  const blocked = [
    "tools.ts",
    "tools.js",
    "tools/index.ts",
    "Tools.TS",
    "tools.ts.",
    "ｔｏｏｌｓ.ts",
    "llm-do.yaml",
    "LLM-DO.YAML",
    "new.worker",
    "workers/new.worker",
    "workers/generated/x/worker.worker",
    "x.WORKER",
    "main.worker",
  ];
  const asking = [
    ".git/hooks/post-checkout",
    ".GIT/config",
    ".git./config",
    "deep/.git/hooks/x",
    ".llm-do/runs/x/journal.jsonl",
    ".llm-do/trust.json",
    ".env",
    ".env.local",
    ".ENV.production",
    ".e\u200bnv",
    "package.json",
    "deep/package.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".github/workflows/ci.yml",
    ".bashrc",
    ".npmrc",
    ".gitconfig",
    ".ssh/authorized_keys",
    ".husky/pre-commit",
  ];
  const calls = [...blocked, ...asking].map((path) => ({ tool: "write_file", args: { path, content: "evil" } }));
  const approved = worker("toolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }");

  test("are not made without a question, though writing is pre-approved", async () => {
    const world = new World({ "main.worker": approved });
    const questions: string[] = [];
    const approver = async ({ args }: ApprovalRequest) => {
      questions.push(String(args["path"]));
      return { type: "deny" } as const;
    };
    const { results } = await attack(world, { model: [calls], approval: { mode: "prompt", approver } });
    expect(world.files("program")).toEqual(["main.worker"]);
    expect(world.read("program/main.worker")).toBe(approved);
    expect(questions.toSorted()).toEqual(asking.toSorted());
    expect(results.map(outcome).slice(0, blocked.length)).toEqual(blocked.map(() => "blocked"));
  });

  test("of the program itself are refused even if everything is approved", async () => {
    const world = new World({ "main.worker": approved });
    const { results } = await attack(world, { model: [calls.slice(0, blocked.length)], approval: approveAll });
    expect(world.files("program")).toEqual(["main.worker"]);
    expect(world.read("program/main.worker")).toBe(approved);
    expect(results.map(outcome)).toEqual(blocked.map(() => "blocked"));
  });

  test("are refused if nobody can be asked", async () => {
    const world = new World({ "main.worker": approved });
    await attack(world, { model: [calls], approval: { mode: "prompt" } });
    expect(world.files("program")).toEqual(["main.worker"]);
  });
});

test("grants nothing for empty limits: no scope, no rule, no folder", async () => {
  const empty = {
    "paths: {}": "sandbox: { paths: {} }\ntoolsets: { filesystem: {} }",
    "scopes: []": "toolsets: { filesystem: { scopes: [] } }",
    "shell: {}": "toolsets: { shell: {} }",
    "rules: []": "toolsets: { shell: { rules: [] } }",
    "toolsets: {}": "toolsets: {}",
  };
  for (const [name, frontmatter] of Object.entries(empty)) {
    const world = new World({ "main.worker": worker(frontmatter), note: canary });
    const calls = [
      ...everyTool("note"),
      ...everyTool("."),
      { tool: "shell", args: { command: "cat note" } },
      { tool: "shell", args: { command: "echo evil > note" } },
    ].map((call) => ({ ...call, allowUnknownTool: true }));
    const { results } = await attack(world, { model: [calls] });
    expect(results.map(outcome), name).not.toContain("ok");
    expect(JSON.stringify(results), name).not.toContain(canary);
    expect(world.read("program/note"), name).toBe(canary);
  }
});
