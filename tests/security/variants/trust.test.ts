import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { createTrustStore } from "../../../src/host/own-files/trust-store.ts";
import { compile, run as runProgram } from "../../../src/index.ts";
import { openTerminal } from "../../cli/open-terminal.ts";
import { runCli, script, temporaryFolder } from "../../cli/run-cli.ts";
import { listen } from "../world.ts";

type Files = Readonly<Record<string, string>>;

/** A trusted program, and an edit of its files. */
interface Row {
  readonly title: string;
  readonly before: Files;
  /** Files that the edit writes over. */
  readonly after: Files;
  /** New abilities in the question. Absent: the edit asks nothing. */
  readonly says?: string;
  /** A file, beside the program's folder, that the edited program makes where nothing stops it. */
  readonly makes?: string;
  readonly link?: { readonly at: string; readonly before: string; readonly after: string };
}

const go = (frontmatter: string, text = "Go.") => `---\nmodel: scripted:model.yaml\n${frontmatter}\n---\n${text}\n`;
const scopes = (...lines: string[]) => `sandbox: { paths: { ${lines.join(", ")} } }`;
const files = (config = "{}") => `toolsets: { filesystem: ${config} }`;
const free = "{ _approval_config: { write_file: { pre_approved: true } } }";
const writes = (path: string, content = "x") =>
  script({ main: [{ calls: [{ tool: "write_file", args: { path, content } }] }, "done"] });
const shell = (rules: string, more = "") =>
  `${scopes("d: { root: ../d, mode: rw }")}\ntoolsets: { shell: { rules: [${rules}] } }\n${more}`;
const all = "all: { root: ../d, mode: rw, write_approval: false }";
const ping = (more: string, extra = "") => `import { tool } from "llm-do";\n${extra}import { writeFileSync } from "node:fs";
export const ping = tool({ description: "d", input: { type: "object" }, ${more} run: () => writeFileSync("../d/pinged", "x") });\n`;
const helper = (more: string) => go(`description: h\n${more}`);
const calls = (tool: string) => script({ main: [{ calls: [{ tool, args: {} }] }, "done"], "*": ["done"] });

const scopeRows: readonly Row[] = [
  {
    title: "a read-only folder in a writable one is no scope of its own any more",
    before: { "main.worker": go(`${scopes(all, "keep: { root: ../d/keep }")}\n${files()}`), "model.yaml": writes("all/keep/x") },
    after: { "main.worker": go(`${scopes(all)}\n${files()}`) },
    says: "as a part of",
    makes: "d/keep/x",
  },
  {
    title: "a folder that asks in one that does not is no scope of its own any more",
    before: {
      "main.worker": go(`${scopes(all, "keep: { root: ../d/keep, mode: rw }")}\n${files()}`),
      "model.yaml": writes("all/keep/x"),
    },
    after: { "main.worker": go(`${scopes(all)}\n${files()}`) },
    says: "and had a narrower scope for it",
    makes: "d/keep/x",
  },
  {
    title: "a narrower scope moves one level down",
    before: { "main.worker": go(`${scopes(all, "keep: { root: ../d/keep }")}\n${files()}`), "model.yaml": writes("all/keep/x") },
    after: { "main.worker": go(`${scopes(all, "keep: { root: ../d/keep/deeper }")}\n${files()}`) },
    says: "and had a narrower scope for it",
    makes: "d/keep/x",
  },
  {
    title: "a scope takes another name, and the manifest's rule speaks of it no longer",
    before: {
      "main.worker": go(`${scopes("keep: { root: ../d/keep, mode: rw, write_approval: false }")}\n${files()}`),
      "llm-do.yaml": 'approval: { rules: [{ effect: ask, rule: "write_file(keep/*)" }] }\n',
      "model.yaml": writes("k/x"),
    },
    after: { "main.worker": go(`${scopes("k: { root: ../d/keep, mode: rw, write_approval: false }")}\n${files()}`) },
    says: "as the scope k",
    makes: "d/keep/x",
  },
  {
    title: "one of three scopes no longer says that its writes ask",
    before: {
      "main.worker": go(
        `${scopes("a: { root: ../d/a, mode: rw, write_approval: true }", "b: { root: ../d/b, mode: rw }", "c: { root: ../d/c, mode: rw, write_approval: true }")}\n${files(free)}`,
      ),
      "model.yaml": writes("a/x"),
    },
    after: {
      "main.worker": go(
        `${scopes("a: { root: ../d/a, mode: rw }", "b: { root: ../d/b, mode: rw }", "c: { root: ../d/c, mode: rw, write_approval: true }")}\n${files(free)}`,
      ),
    },
    says: "less narrowly than before",
    makes: "d/a/x",
  },
  {
    title: "a scope takes files of any kind",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d, mode: rw, write_approval: false, suffixes: [.md] }")}\n${files()}`),
      "model.yaml": writes("d/x.sh"),
    },
    after: { "main.worker": go(`${scopes("d: { root: ../d, mode: rw, write_approval: false }")}\n${files()}`) },
    says: "less narrowly than before",
    makes: "d/x.sh",
  },
  {
    title: "a scope takes larger files",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d, mode: rw, write_approval: false, max_file_bytes: 10 }")}\n${files()}`),
      "model.yaml": writes("d/x", "x".repeat(50)),
    },
    after: {
      "main.worker": go(`${scopes("d: { root: ../d, mode: rw, write_approval: false, max_file_bytes: 99 }")}\n${files()}`),
    },
    says: "less narrowly than before",
    makes: "d/x",
  },
  {
    title: "reading no longer asks",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d, read_approval: true }")}\n${files()}`),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(`${scopes("d: { root: ../d }")}\n${files()}`) },
    says: "less narrowly than before",
  },
  {
    title: "a link that is a scope's root points elsewhere",
    before: {
      "main.worker": go(`${scopes("d: { root: ./linked, mode: rw, write_approval: false }")}\n${files()}`),
      "model.yaml": writes("d/x"),
    },
    after: {},
    link: { at: "linked", before: "d/a", after: "d/b" },
    says: "/d/b (writing does not ask)",
    makes: "d/b/x",
  },
  {
    title: "a profile of the manifest has another scope",
    before: {
      "main.worker": go(`extends: p\n${files()}`),
      "llm-do.yaml": `profiles: { p: { ${scopes("d: { root: ../d, mode: rw }")} } }\n`,
      "model.yaml": writes("d/x"),
    },
    after: { "llm-do.yaml": `profiles: { p: { ${scopes("d: { root: ../d, mode: rw, write_approval: false }")} } }\n` },
    says: "writing does not ask",
    makes: "d/x",
  },
  {
    title: "the manifest's scope, for a worker that declares none, becomes writable",
    before: { "main.worker": go(files(free)), "llm-do.yaml": `${scopes("d: { root: ../d }")}\n`, "model.yaml": writes("d/x") },
    after: { "llm-do.yaml": `${scopes("d: { root: ../d, mode: rw }")}\n` },
    says: "reads and writes",
    makes: "d/x",
  },
];
// The tool for writing is not there before: its pre-approval would be a mistake.
const withoutTool = scopeRows.length - 1;
const last = scopeRows[withoutTool] as Row;
const fixedScopeRows: readonly Row[] = [
  ...scopeRows.slice(0, -1),
  { ...last, before: { ...last.before, "main.worker": go(files('{ _approval_config: { "*": { pre_approved: true } } }')) } },
];

const toolRows: readonly Row[] = [
  {
    title: "a pre-approval of one tool",
    before: { "main.worker": go(`${scopes("d: { root: ../d, mode: rw }")}\n${files()}`), "model.yaml": writes("d/x") },
    after: { "main.worker": go(`${scopes("d: { root: ../d, mode: rw }")}\n${files(free)}`) },
    says: "main calls filesystem/write_file, without a question",
    makes: "d/x",
  },
  {
    title: "a pre-approval in a named configuration of the manifest",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d, mode: rw }")}\ntoolsets: { fs: {} }`),
      "llm-do.yaml": "toolsets: { fs: { _use: filesystem } }\n",
      "model.yaml": writes("d/x"),
    },
    after: { "llm-do.yaml": 'toolsets: { fs: { _use: filesystem, _approval_config: { "*": { pre_approved: true } } } }\n' },
    says: "main calls fs/write_file, without a question",
    makes: "d/x",
  },
  {
    title: "a prefix that a rule of the manifest does not know",
    before: {
      "main.worker": go(`${scopes(all)}\n${files()}`),
      "llm-do.yaml": "approval: { rules: [{ effect: ask, rule: write_file }] }\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "x_write_file", args: { path: "all/x", content: "x" } }] }, "done"] }),
    },
    after: { "main.worker": go(`${scopes(all)}\n${files("{ _prefix: x }")}`) },
    says: "main calls filesystem/x_write_file",
    makes: "d/x",
  },
  {
    title: "a rule of the manifest that is gone",
    before: {
      "main.worker": go(`${scopes(all)}\n${files()}`),
      "llm-do.yaml": 'approval: { rules: [{ effect: block, rule: "write_file(*/x)" }] }\n',
      "model.yaml": writes("all/x"),
    },
    after: { "llm-do.yaml": "name: p\n" },
    says: "the manifest no longer has the rule block write_file(*/x)",
    makes: "d/x",
  },
  {
    title: "a worker that it calls unasked",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d }")}\n${files()}`),
      "helper.worker": helper(`${scopes(all)}\n${files()}`),
      "model.yaml": script({
        main: [{ calls: [{ tool: "helper", args: { input: "go" } }] }, "done"],
        helper: [{ calls: [{ tool: "write_file", args: { path: "all/x", content: "x" } }] }, "done"],
      }),
    },
    after: {
      "main.worker": go(
        `${scopes("d: { root: ../d }")}\ntoolsets: { filesystem: {}, helper: { _approval_config: { helper: { pre_approved: true } } } }`,
      ),
    },
    says: "helper is a new worker",
    makes: "d/x",
  },
  {
    title: "a tool of its code that its author pre-approves now",
    before: { "main.worker": go("toolsets: { ping: {} }"), "tools.ts": ping(""), "model.yaml": calls("ping"), "../d/keep/y": "" },
    after: { "tools.ts": ping('approval: "pre-approved",') },
    says: "main calls ping/ping, without a question",
    makes: "d/pinged",
  },
  {
    title: "a module more",
    before: { "main.worker": go("toolsets: { ping: {} }"), "tools.ts": ping(""), "lib/more.ts": "", "model.yaml": calls("ping") },
    after: { "tools.ts": ping("", 'import "./lib/more.ts";\n') },
    says: "runs lib/more.ts, with all of your rights",
  },
  {
    title: "a tool of its code that may call a worker now",
    before: {
      "main.worker": go("toolsets: { ping: {} }"),
      "deep.worker": helper(""),
      "tools.ts": ping(""),
      "model.yaml": calls("ping"),
    },
    after: { "tools.ts": ping('calls: ["deep"],') },
    says: "deep is a new worker",
  },
  {
    title: "a tool of its code that is a script which plays a model",
    before: { "main.worker": go(`${scopes("d: { root: ../d }")}\n${files()}`), "model.yaml": script({ main: ["done"] }) },
    after: {
      "main.worker": go(`${scopes("d: { root: ../d }")}\n${files()}`).replace("model.yaml", "play.ts"),
      "play.ts": 'import { writeFileSync } from "node:fs";\nwriteFileSync("../d/played", "x");\nexport default () => "done";\n',
    },
    says: "runs play.ts, with all of your rights",
    makes: "d/played",
  },
];

const boundRows: readonly Row[] = [
  {
    title: "more turns than there are where nobody says how many",
    before: {
      "main.worker": go(`${scopes(all)}\n${files()}`),
      "model.yaml": script({
        main: [
          // Each another call: equal ones without end are a loop.
          ...Array.from({ length: 52 }, (_, index) => ({
            calls: [{ tool: "list_files", args: { path: "all", pattern: `${index}*` } }],
          })),
          { calls: [{ tool: "write_file", args: { path: "all/x", content: "x" } }] },
          "done",
        ],
      }),
    },
    after: { "main.worker": go(`limits: { turns: 60 }\n${scopes(all)}\n${files()}`) },
    says: "main has the limit turns: 60, and had 50",
    makes: "d/x",
  },
  {
    title: "a limit of turns that is gone",
    before: {
      "main.worker": go(`limits: { turns: 1 }\n${scopes(all)}\n${files()}`),
      "model.yaml": writes("all/x"),
    },
    after: { "main.worker": go(`${scopes(all)}\n${files()}`) },
    says: "main has the limit turns: 50, and had 1",
  },
  {
    title: "a limit of a run that is gone",
    before: {
      "main.worker": go(`${scopes(all)}\n${files()}`),
      "llm-do.yaml": "limits: { tool_calls: 1 }\n",
      "model.yaml": writes("all/x"),
    },
    after: { "llm-do.yaml": "limits: {}\n" },
    says: "a run no longer has the limit tool_calls: 1",
    makes: "d/x",
  },
  {
    title: "more and other attachments",
    before: {
      "main.worker": go(`attachment_policy: { denied_suffixes: [.env] }\n${scopes("d: { root: ../d }")}\n${files()}`),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(`${scopes("d: { root: ../d }")}\n${files()}`) },
    says: "main takes more attachments",
  },
  {
    title: "the network for commands",
    before: { "main.worker": go(shell("{ pattern: echo }")), "model.yaml": script({ main: ["done"] }) },
    after: {
      "main.worker": go(
        "sandbox: { network_enabled: true, paths: { d: { root: ../d, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: echo }] } }",
      ),
    },
    says: "main runs commands with the network",
  },
  {
    title: "commands without isolation",
    before: {
      "main.worker": go(
        "sandbox: { required: true, paths: { d: { root: ../d, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: echo }] } }",
      ),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: echo }")) },
    says: "no longer requires that its commands are isolated",
  },
  {
    title: "a rule of the shell may write somewhere",
    before: {
      "main.worker": go(shell("{ pattern: make, writes: [d/a], approval_required: false }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: make, writes: [d], approval_required: false }")) },
    says: "main has the rule shell: make, without a question, writing in d",
  },
  {
    title: "a rule of the shell opens a protected name",
    before: {
      "main.worker": go(shell("{ pattern: git, writes: [d] }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: git, writes: [d], opens: [.git] }")) },
    says: "main has the rule shell: git, after a question unless pre-approved, writing in d, opening .git",
  },
  {
    title: "looks of the shell are allowed",
    before: {
      "main.worker": go(shell("{ pattern: rm, blocked: true }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: rm, blocked: true }").replace("shell: {", "shell: { looks: allowed,")) },
    says: "main has the rule shell: whatever changes nothing, without a question, but for rm",
  },
  {
    title: "a block of the shell less",
    before: {
      "main.worker": go(shell("{ pattern: git push, blocked: true }, { pattern: git, approval_required: false }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: git, approval_required: false }")) },
    says: "main has the rule shell: git, without a question",
  },
  {
    title: "a strict rule of the shell less",
    before: {
      "main.worker": go(shell("{ pattern: rm -rf, approval_required: true }, { pattern: rm, approval_required: false }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: rm, approval_required: false }")) },
    says: "main has the rule shell: rm, without a question",
  },
  {
    title: "the folders of two scopes that a rule of the shell names change places",
    before: {
      "main.worker": go(
        `${scopes("a: { root: ../d/a, mode: rw }", "b: { root: ../d/b, mode: rw }")}\ntoolsets: { shell: { rules: [{ pattern: cp, approval_required: false, sandbox_paths: [a] }] } }`,
      ),
      "model.yaml": script({ main: ["done"] }),
    },
    after: {
      "main.worker": go(
        `${scopes("a: { root: ../d/b, mode: rw }", "b: { root: ../d/a, mode: rw }")}\ntoolsets: { shell: { rules: [{ pattern: cp, approval_required: false, sandbox_paths: [a] }] } }`,
      ),
    },
    says: "/d/b (as the scope a)",
  },
];

const honestRows: readonly Row[] = [
  {
    title: "other instructions, a description and an input",
    before: { "main.worker": go(`${scopes(all)}\n${files()}`), "model.yaml": writes("all/x") },
    after: {
      "main.worker": go(`description: other\ninput: { input: string, more?: string }\n${scopes(all)}\n${files()}`, "Go on."),
    },
    makes: "d/x",
  },
  {
    title: "a scope less, which was no narrower than the one around it",
    before: {
      "main.worker": go(`${scopes(all, "keep: { root: ../d/keep, mode: rw, write_approval: false }")}\n${files()}`),
      "model.yaml": writes("all/x"),
    },
    after: { "main.worker": go(`${scopes(all)}\n${files()}`) },
    makes: "d/x",
  },
  {
    title: "a narrow scope less, which nothing lies around",
    before: {
      "main.worker": go(`${scopes("d: { root: ../d/a, mode: rw, write_approval: false }", "b: { root: ../d/b }")}\n${files()}`),
      "model.yaml": writes("d/x"),
    },
    after: { "main.worker": go(`${scopes("d: { root: ../d/a, mode: rw, write_approval: false }")}\n${files()}`) },
    makes: "d/a/x",
  },
  {
    title: "fewer turns, and a limit more",
    before: { "main.worker": go(`limits: { turns: 9 }\n${scopes(all)}\n${files()}`), "model.yaml": writes("all/x") },
    after: { "main.worker": go(`limits: { turns: 4, tool_calls: 3 }\n${scopes(all)}\n${files()}`) },
    makes: "d/x",
  },
  {
    title: "a rule of the shell less, which let through what the next one does",
    before: {
      "main.worker": go(shell("{ pattern: git log, approval_required: false }, { pattern: git, approval_required: false }")),
      "model.yaml": script({ main: ["done"] }),
    },
    after: { "main.worker": go(shell("{ pattern: git, approval_required: false }")) },
  },
  {
    title: "code that does something else with the same modules",
    before: {
      "main.worker": go("toolsets: { ping: {} }"),
      "tools.ts": ping('approval: "pre-approved",'),
      "model.yaml": calls("ping"),
    },
    after: { "tools.ts": `${ping('approval: "pre-approved",')}// An edit.\n` },
    makes: "d/pinged",
  },
];

describe("a program that was trusted for good", { timeout: 60_000 }, () => {
  const rows = [...fixedScopeRows, ...toolRows, ...boundRows];

  test.each(rows)("asks again: $title", async ({ says = "", makes, ...row }) => {
    const { cwd, run, runUnasked } = await trusted(row);
    const asked = await run([]);
    expect(asked.stderr).toContain("is trusted, and can do more now than it could then:\n");
    expect(asked.stderr).toContain(says);
    expect(asked.exitCode).toBe(2);
    if (makes === undefined) return;
    expect(existsSync(join(dirname(cwd), makes))).toBe(false);
    // Without the question it is done.
    await runUnasked();
    expect(existsSync(join(dirname(cwd), makes))).toBe(true);
  });

  test.each(honestRows)("asks nothing: $title", async ({ makes, ...row }) => {
    const { cwd, run } = await trusted(row);
    expect(await run([])).toMatchObject({ exitCode: 0 });
    if (makes !== undefined) expect(existsSync(join(dirname(cwd), makes))).toBe(true);
  });

  test("asks again before a model is reached at another address, or with another key", async () => {
    const server = await listen();
    const manifest = (path: string, key = "") =>
      `providers: { own: { type: openai-compatible, base_url: "http://127.0.0.1:${server.port}/${path}"${key} } }\n`;
    const before = { "main.worker": "---\nmodel: own:m\n---\nGo.\n", "llm-do.yaml": manifest("v1") };
    for (const after of [manifest("v2"), manifest("v1", ", api_key: '${HOME}'")]) {
      const { run } = await trusted({ title: "", before, after: { "llm-do.yaml": after } });
      const asked = await run([]);
      expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("its models are reached at http://127.0.0.1:")]);
      expect(server.heard()).toBe(0);
    }
    const { run } = await trusted({ title: "", before, after: {} });
    await run([]);
    expect(server.heard()).toBeGreaterThan(0);
  });
});

describe("the question of trust", { timeout: 60_000 }, () => {
  const outside = (id: number) => `s${id}: { root: ../s${id}, mode: rw, write_approval: false }`;
  const many = Array.from({ length: 60 }, (_, id) => outside(id));

  test("names a kind of reason before the many of another kind", async () => {
    const cwd = await write({
      "main.worker": `---\nmodel: own:m\nsandbox: { network_enabled: true, paths: { ${many.join(", ")} } }\ntoolsets: { shell: { rules: [{ pattern: ls }] } }\n---\nGo.\n`,
      "llm-do.yaml":
        "providers: { own: { type: openai-compatible, base_url: 'https://\u0430pi.example.com/v1', api_key: '${OWN_KEY}' } }\n",
    });
    const { stderr, exitCode } = await runCli([".", "go"], { cwd, env: { OWN_KEY: "0123456789" } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("  runs programs of this machine, which may use the network, in: main\n");
    // The first letter is Cyrillic: the address is not what it looks like.
    expect(stderr).toContain("  has its models reached at https://\\u{430}pi.example.com/v1 (the provider own, with OWN_KEY)\n");
    expect(stderr).toContain("  takes variables of the environment: OWN_KEY\n");
    expect(stderr).toMatch(/reaches beyond its folder in main: reads and writes \S+\/s0, without a question\n/);
    expect(stderr).toMatch(/and \d+ more\n/);
  });

  test("names all code, and the scopes of code that starts runs", async () => {
    const modules = Array.from({ length: 30 }, (_, id) => `lib/m${String(id).padStart(2, "0")}.ts`);
    const cwd = await write({
      "tools.ts": `${modules.map((path) => `import "./${path}";\n`).join("")}export async function main() { return "x"; }\n`,
      "llm-do.yaml": "sandbox: { paths: { home: { root: '~', mode: rw } } }\n",
      "../home/x": "",
      ...Object.fromEntries(modules.map((path) => [path, "export {};\n"])),
    });
    const { stderr, exitCode } = await runCli([".", "--entry", "tools.ts:main", "go"], { cwd });
    expect(exitCode).toBe(2);
    for (const path of modules) expect(stderr).toContain(path);
    expect(stderr).toContain(`reaches beyond its folder in its code: reads and writes ${join(dirname(cwd), "home")}\n`);
  });

  test("is answered for good only after all of it was shown", async () => {
    const cwd = await write({
      "main.worker": go(`${scopes(...many)}\n${files()}`),
      "model.yaml": script({ main: ["done"] }),
    });
    const terminal = openTerminal([".", "go", "--reject-all"], { cwd, columns: 200, rows: 60 });
    await terminal.waitFor("and 20 more");
    await terminal.waitFor("no      do not run it\n>");
    expect(terminal.screen()).not.toContain("/s59");
    expect(terminal.screen()).not.toContain("always  trust");
    terminal.type("always\r");
    await terminal.waitFor("Nothing is trusted for good before all of it was shown.");
    terminal.type("m\r");
    await terminal.waitFor("/s59");
    await terminal.waitFor("always  trust the folder");
    terminal.type("always\r");
    expect(await terminal.exitCode).toBe(0);
    expect((await runCli([".", "go", "--reject-all"], { cwd })).exitCode).toBe(0);
  });

  test("lets no name stand as a row or an answer of its own", async () => {
    const name = `a${" x".repeat(20)} takes nothing of yours always trust the folder`;
    const cwd = await write({
      "main.worker": go(`${scopes(`d: { root: "../${name}", mode: rw }`)}\n${files()}`),
      [`../${name}/x`]: "",
      "model.yaml": script({ main: ["done"] }),
    });
    const terminal = openTerminal([".", "go", "--reject-all"], { cwd, columns: 50 });
    await terminal.waitFor("no      do not run it\n>");
    const question = terminal.screen();
    terminal.type("no\r");
    expect(await terminal.exitCode).toBe(2);
    const rows = question.split("\n").filter((row) => /^ {2}\S/.test(row));
    expect(rows.map((row) => row.trim().split(" ")[0])).toEqual(["reaches", "yes", "always", "no"]);
  });
});

async function write(texts: Files, folder?: string): Promise<string> {
  const cwd = folder ?? join(await temporaryFolder(), "program");
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return cwd;
}

/** Trusts a program for good, as the answer `always` does, and edits it then. */
async function trusted({ before, after, link }: Row) {
  const cwd = await write(before);
  for (const folder of ["d/a", "d/b", "d/c", "d/keep/deeper"]) mkdirSync(join(cwd, "..", folder), { recursive: true });
  const point = (to: string) => {
    rmSync(join(cwd, link?.at ?? ""), { force: true });
    symlinkSync(join(cwd, "..", to), join(cwd, link?.at ?? ""));
  };
  if (link) point(link.before);
  const environment = { PATH: process.env["PATH"], HOME: join(cwd, "../home"), LLM_DO_STATE_DIR: join(cwd, "../state") };
  const host = createNodeHost({ environment, workingDirectory: cwd, homeDirectory: join(cwd, "../home") });
  const { reach, untrusted, diagnostics } = await compile({ target: cwd, host, toRun: true });
  expect(untrusted, JSON.stringify(diagnostics.map(({ message }) => message))).toBeDefined();
  const whole = "tools.ts" in before ? (await compile({ target: cwd, host, toRun: true, trust: true })).reach : reach;
  if (!whole) throw new Error("the program has mistakes");
  await createTrustStore(host, () => undefined).add(cwd, whole);
  const run = (flags: readonly string[]) => runCli([".", "go", ...flags], { cwd });
  await write(after, cwd);
  if (link) point(link.after);
  // Modules are imported once a process.
  const isCode = Object.keys({ ...before, ...after }).some((path) => path.endsWith(".ts"));
  const runUnasked = async () =>
    isCode
      ? expect(await run(["--trust"])).toMatchObject({ exitCode: 0 })
      : await runProgram({ target: cwd, host, trust: true, input: "go", approval: { mode: "prompt" }, journal: false });
  return { cwd, run, runUnasked };
}
