import { describe, expect, it } from "vitest";
import { growthOf, mergeReach } from "../../src/compile/powers/reach.ts";
import { defaultAttachmentPolicy } from "../../src/program/program.ts";
import type { Reach } from "../../src/protocol/reach.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

async function reach(main: string, request: object = {}, others: Record<string, string> = {}): Promise<Reach> {
  const files = { "main.worker": worker(`model: openai:m\n${main}`), "notes/a.md": "a", "out/a.md": "a", ...others };
  const compiled = await compileOn(createMachine({ files }), request);
  if (!compiled.reach) throw new Error(compiled.shown.join("\n"));
  return compiled.reach;
}

const files = (scope: string, approvals = "{}") =>
  `toolsets: { filesystem: { _approval_config: ${approvals} } }\nsandbox: { paths: { notes: ${scope} } }`;
const shell = (rules: string) => `toolsets: { shell: ${rules} }`;
const writing = ["write_file", "append_file", "edit_file"].map((name) => `main calls filesystem/${name}, after a question`);
const outside = '{ root: "~", mode: rw }';

/** Before, after, and what the program can do more then. */
const growths: [string, string, string, string[]][] = [
  ["no change", files("{ root: ./notes }"), files("{ root: ./notes }"), []],
  [
    "a root to write in",
    files("{ root: ./notes }"),
    files("{ root: ./notes, mode: rw }"),
    ["main reads and writes notes (less narrowly than before)", ...writing],
  ],
  ["a root that is no longer written", files("{ root: ./notes, mode: rw }"), files("{ root: ./notes }"), []],
  ["another root", files("{ root: ./notes }"), files(outside), ["main reads and writes /home/user", ...writing]],
  ["a suffix less", files("{ root: ./notes, suffixes: [.md, .txt] }"), files("{ root: ./notes, suffixes: [.md] }"), []],
  [
    "a suffix more",
    files("{ root: ./notes, suffixes: [.md] }"),
    files("{ root: ./notes, suffixes: [.md, .txt] }"),
    ["main reads notes (.md .txt; less narrowly than before)"],
  ],
  [
    "larger files",
    files("{ root: ./notes, max_file_bytes: 10 }"),
    files("{ root: ./notes }"),
    ["main reads notes (less narrowly than before)"],
  ],
  ["smaller files", files("{ root: ./notes }"), files("{ root: ./notes, max_file_bytes: 10 }"), []],
  [
    "a pre-approval",
    files("{ root: ./notes, mode: rw }"),
    files("{ root: ./notes, mode: rw }", "{ write_file: { pre_approved: true } }"),
    ["main calls filesystem/write_file, without a question"],
  ],
  [
    "a pre-approval that is taken back",
    files("{ root: ./notes, mode: rw }", "{ write_file: { pre_approved: true } }"),
    files("{ root: ./notes, mode: rw }"),
    [],
  ],
  ["a toolset less", files("{ root: ./notes }"), "description: x", []],
  [
    "a rule",
    shell("{ rules: [] }"),
    shell("{ rules: [{ pattern: ls }] }"),
    ["main has the rule shell: ls, after a question unless pre-approved"],
  ],
  [
    "the network",
    shell("{ rules: [] }"),
    `${shell("{ rules: [] }")}\nsandbox: { network_enabled: true }`,
    ["main runs commands with the network"],
  ],
  ["a rule less", shell("{ rules: [{ pattern: ls }, { pattern: cat }] }"), shell("{ rules: [{ pattern: cat }] }"), []],
  [
    "a rule that no longer asks",
    shell("{ rules: [{ pattern: ls }] }"),
    shell("{ rules: [{ pattern: ls, approval_required: false }] }"),
    ["main has the rule shell: ls, without a question"],
  ],
  [
    "an exception less",
    shell("{ rules: [{ pattern: git push }, { pattern: git, approval_required: false }] }"),
    shell("{ rules: [{ pattern: git, approval_required: false }] }"),
    ["main has the rule shell: git, without a question"],
  ],
  [
    "an argument that is no longer denied",
    shell("{ rules: [{ pattern: ls, deny_args: ['-R'] }] }"),
    shell("{ rules: [{ pattern: ls }] }"),
    ["main has the rule shell: ls, after a question unless pre-approved"],
  ],
  [
    "a rule of another program before it",
    shell("{ rules: [{ pattern: cat }] }"),
    shell("{ rules: [{ pattern: ls }, { pattern: cat }] }"),
    ["main has the rule shell: ls, after a question unless pre-approved"],
  ],
  [
    "a pre-approval of a toolset that judges each call",
    shell("{ rules: [{ pattern: ls }] }"),
    shell("{ rules: [{ pattern: ls }], _approval_config: { shell: { pre_approved: true } } }"),
    ["main calls shell/shell, without a question unless a rule asks"],
  ],
  [
    "a question that can be pre-approved now",
    shell("{ rules: [{ pattern: ls, approval_required: true }] }"),
    shell("{ rules: [{ pattern: ls }] }"),
    ["main has the rule shell: ls, after a question unless pre-approved"],
  ],
  [
    "a redirection that does not ask",
    shell("{ rules: [{ pattern: ls }] }"),
    shell("{ rules: [{ pattern: ls, writes: [notes], redirect_paths: ['notes/*'] }] }"),
    ["main has the rule shell: ls, after a question unless pre-approved, writing in notes, output may go to notes/*"],
  ],
  [
    "isolation that is not required any more",
    `${shell("{ rules: [] }")}\nsandbox: { required: true }`,
    shell("{ rules: [] }"),
    ["main no longer requires that its commands are isolated"],
  ],
  [
    "limits that are gone, or wider",
    "limits: { turns: 5, usd: 1, tokens: 100 }",
    "limits: { turns: 6, tokens: 50, seconds: 5 }",
    ["main has the limit turns: 6, and had 5", "main no longer has the limit usd: 1"],
  ],
  ["narrower limits", "description: x", "limits: { turns: 5 }", []],
  [
    "more attachments",
    "attachment_policy: { max_attachments: 2 }",
    "attachment_policy: { max_attachments: 3 }",
    ["main takes more attachments: 3 files of 10000000 bytes together, of any kind"],
  ],
  [
    "larger attachments",
    "attachment_policy: { max_total_bytes: 10 }",
    "attachment_policy: { max_total_bytes: 20 }",
    ["main takes more attachments: 4 files of 20 bytes together, of any kind"],
  ],
  [
    "attachments of more kinds",
    "attachment_policy: { allowed_suffixes: [.md], denied_suffixes: [.key] }",
    "attachment_policy: { allowed_suffixes: [.md, .pdf], denied_suffixes: [.key] }",
    ["main takes more attachments: 4 files of 10000000 bytes together, .md .pdf, but for .key"],
  ],
  [
    "attachments of a kind that was denied",
    "attachment_policy: { denied_suffixes: [.key] }",
    "description: x",
    ["main takes more attachments: 4 files of 10000000 bytes together, of any kind"],
  ],
  ["fewer attachments", "description: x", "attachment_policy: { max_attachments: 1, allowed_suffixes: [.md] }", []],
  [
    "commands that no rule covers",
    shell("{ rules: [{ pattern: ls }] }"),
    shell("{ rules: [{ pattern: ls }], default: { approval_required: true } }"),
    ["main has the rule shell: any other command, after a question"],
  ],
];

describe("what a program can do more than before", () => {
  it.each(growths)("%s", async (_, before, after, expected) => {
    expect(growthOf(await reach(before), await reach(after))).toEqual(expected);
  });

  it("is a model that its files name, and none that the user names", async () => {
    const before = await reach("description: x");
    expect(growthOf(before, await reach("description: x", { set: ["model=openai:other"] }))).toEqual([]);
    const after = await reach("description: x\ntoolsets: { helper: {} }", {}, { "helper.worker": worker("model: openai:h") });
    expect(growthOf(before, after)).toEqual([
      "main reads and writes the program's folder",
      "main calls helper/helper, after a question",
      "helper is a new worker",
      "helper sends to openai:h",
    ]);
    expect(growthOf(after, before)).toEqual([]);
  });

  it("is told worker by worker: what one may do is not lent to another", async () => {
    const helper = (approvals: string) => ({ "helper.worker": worker(`model: openai:m\n${files(outside, approvals)}`) });
    const main = `toolsets: { helper: {}, filesystem: { _approval_config: { write_file: { pre_approved: true } } } }`;
    const grown = growthOf(
      await reach(main, {}, helper("{}")),
      await reach(main, {}, helper("{ write_file: { pre_approved: true } }")),
    );
    expect(grown).toEqual(["helper calls filesystem/write_file, without a question"]);
  });

  it("is nothing beside what was stored when scopes did not say whether they lie outside", async () => {
    const now = await reach(files("{ root: ./notes, mode: rw }"));
    const workers = Object.entries(now.workers).map(([id, one]) => {
      const scopes = one.scopes.map(({ outside: _, ...scope }) => ({ ...scope, writesAlwaysAsk: false }));
      return [id, { ...one, scopes }];
    });
    const stored = JSON.parse(JSON.stringify({ ...now, workers: Object.fromEntries(workers) }));
    expect(growthOf(stored, now)).toEqual([]);
    expect(growthOf(stored, await reach(files("{ root: ./notes, mode: rw, write_approval: false }")))).not.toEqual([]);
  });

  it("is nothing for either of two entries that are both trusted", async () => {
    const other = { "other.worker": worker(`model: openai:m\n${files(outside)}`) };
    const main = await reach(files("{ root: ./notes }"), {}, other);
    const second = await reach(files("{ root: ./notes }"), { entry: "other" }, other);
    expect(growthOf(main, second)).not.toEqual([]);
    const both = mergeReach(main, second);
    expect([growthOf(both, main), growthOf(both, second)]).toEqual([[], []]);
  });

  it("is a scope of code that starts runs", async () => {
    const code = { "tools.ts": "export function main() {}\n" };
    const manifest = (mode: string) => ({
      ...code,
      "llm-do.yaml": `sandbox: { paths: { notes: { root: ./notes, mode: ${mode} } } }`,
    });
    const entry = { entry: "tools.ts:main" };
    const before = await reach("description: x", entry, manifest("ro"));
    expect(growthOf(before, await reach("description: x", entry, manifest("ro")))).toEqual([]);
    expect(growthOf(before, await reach("description: x", entry, manifest("rw")))).toContain(
      "entry tools.ts:main reads and writes notes (less narrowly than before)",
    );
    expect(growthOf(await reach("description: x", {}, code), before)).toContain("entry tools.ts:main is new");
  });

  it("is a tool of the provider, and what bounds it", async () => {
    const tool = (more: string) => `server_side_tools: [{ tool_type: web_search${more} }]`;
    const bounded = await reach(tool(", allowed_domains: [a.example]"));
    expect(growthOf(await reach("description: x"), bounded)).toEqual([
      "main calls server_side_tools/server:web_search, after a question",
      "main has the rule server_side_tools: web_search, on a.example alone",
    ]);
    expect(growthOf(bounded, await reach(tool("")))).toEqual(["main has the rule server_side_tools: web_search"]);
    expect(growthOf(bounded, await reach("description: x"))).toEqual([]);
  });

  it("is a rule of the manifest, and none of the user", async () => {
    const main = files("{ root: ./out, mode: rw }");
    const manifest = (rules: string) => ({ "llm-do.yaml": `approval: { rules: [${rules}] }` });
    const before = await reach(main);
    expect(growthOf(before, await reach(main, { rules: [{ effect: "allow", rule: "write_file" }] }))).toEqual([]);
    const blocking = await reach(main, {}, manifest('{ rule: "write_file(path=out/x*)", effect: block }'));
    expect(growthOf(before, blocking)).toEqual([]);
    expect(growthOf(blocking, before)).toEqual(["the manifest no longer has the rule block write_file(path=out/x*)"]);
  });

  it("is another address at which the manifest has its models reached", async () => {
    const manifest = (url: string) => ({
      "llm-do.yaml": `providers: { own: { type: openai-compatible, base_url: "${url}" } }`,
      "helper.worker": worker("description: Helps.\nmodel: own:m"),
    });
    const main = "toolsets: { helper: {} }";
    const before = await reach(main, {}, manifest("https://a.example/v1"));
    expect(growthOf(before, await reach(main, {}, manifest("https://a.example/v1")))).toEqual([]);
    expect(growthOf(before, await reach(main, {}, manifest("https://b.example/v1")))).toEqual([
      expect.stringContaining("its models are reached at https://b.example/v1"),
    ]);
  });

  it("is a limit or a mode of the manifest that is gone", async () => {
    const manifest = (text: string) => reach("description: x", {}, { "llm-do.yaml": text });
    const before = await manifest("limits: { usd: 1, turns: 4 }\napproval: { mode: reject_all }\n");
    expect(growthOf(before, await manifest("limits: { usd: 2 }\n"))).toEqual([
      "the manifest no longer has the mode reject_all",
      "a run has the limit turns: 50, and had 4",
      "a run has the limit usd: 2, and had 1",
    ]);
  });

  it("is a package of another version, and a variable that the configuration takes", async () => {
    const files = (version: string, url: string) => ({
      "tools.ts": 'import "dep";\nexport const db = 1;\n',
      "node_modules/dep/package.json": `{"name":"dep","version":"${version}"}`,
      "main.worker": worker(`model: openai:m\ntoolsets: { db: { url: "${url}" } }`),
    });
    const before = await reach("", {}, files("1.0.0", "x"));
    expect(growthOf(before, await reach("", {}, files("1.0.0", "x")))).toEqual([]);
    expect(growthOf(before, await reach("", {}, files("1.0.1", "${USER}@${HOST}")))).toEqual([
      "its code loads the package dep 1.0.1 (node_modules/dep)",
      "its configuration takes the variable HOST of the environment",
      "its configuration takes the variable USER of the environment",
    ]);
  });

  it("is a reference of code whose tools are not known", () => {
    const none = { code: [], packages: [], variables: [], addresses: [], restrictions: [], limits: {} };
    const bounds = { limits: {}, attachments: defaultAttachmentPolicy, isolationRequired: false };
    const now = { models: [], scopes: [], references: ["shout"], tools: {}, network: false, rules: [], ...bounds };
    const before = { ...now, references: [] };
    expect(growthOf({ ...none, workers: { main: before } }, { ...none, code: ["tools.ts"], workers: { main: now } })).toEqual([
      "runs tools.ts, with all of your rights",
      "main uses shout",
    ]);
    const verified = { ...now, tools: { "shout/shout": "asks" as const } };
    expect(growthOf({ ...none, workers: { main: verified } }, { ...none, workers: { main: now } })).toEqual([]);
  });
});
