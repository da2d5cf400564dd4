import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Compiled } from "../../src/compile/compile.ts";
import { growthOf } from "../../src/compile/powers/reach.ts";
import { UntrustedProgram } from "../../src/index.ts";
import { makeProgram } from "./program.ts";

const marking = 'import { writeFileSync } from "node:fs";\nwriteFileSync(process.env.MARK ?? "canary", "x");\n';
const asTool = `${marking}import { tool } from "llm-do";
export const t1 = tool({ description: "d", input: { type: "object" }, run: () => 1 });
`;
const worker = (frontmatter: string) => `---\n${frontmatter}\n---\nSay hi.\n`;
const text = (content: string) => JSON.stringify({ text: content });
const suite = (line: string) => `script: script.yaml\ncases:\n  - name: a\n    input: x\n    ${line}\n`;

interface Attack {
  readonly line: string;
  readonly files?: Readonly<Record<string, string>>;
}

const server = worker("toolsets: { mcp: { servers: { s: { command: node, args: [srv.mjs], isolated: false } } } }");

const attacks: Readonly<Record<string, Attack>> = {
  "an entry in code": {
    line: "entry: tools.ts:main",
    files: { "tools.ts": `${marking}export async function main() { return "x"; }\n` },
  },
  "code as a file": {
    line: "files: { tools.ts: a.txt, main.worker: b.txt }",
    files: { "a.txt": asTool, "b.txt": worker("toolsets: { t1: {} }") },
  },
  "a server without isolation": { line: `files: { main.worker: ${text(server)} }`, files: { "srv.mjs": marking } },
  "a manifest with a provider": {
    line: `files: { llm-do.yaml: ${text("providers: { own: { type: openai-compatible, base_url: https://models.example.com/v1 } }\n")} }\n    set: [model=own:m]`,
  },
  "a toolset by set": { line: 'set: ["toolsets.t1={}"]', files: { "tools.ts": asTool } },
  "a model that code plays, by set": { line: "set: [model=scripted:evil.mjs]", files: { "evil.mjs": marking } },
  "a judge with code": {
    line: "expect: { judge: { worker: sub/judge.worker, at_least: 1, script: script.yaml } }",
    files: { "sub/tools.ts": asTool, "sub/judge.worker": worker("toolsets: { t1: {} }") },
  },
  "a judge that code plays": {
    line: "expect: { judge: { worker: sub/judge.worker, at_least: 1, script: evil.mjs } }",
    files: { "evil.mjs": marking, "sub/judge.worker": worker("description: judges") },
  },
};

describe("what a case makes of a program needs trust", () => {
  it.each(Object.entries(attacks))("%s", async (_, { line, files = {} }) => {
    const program = makeProgram({
      "main.worker": worker("description: x"),
      "script.yaml": "- reply: hi\n",
      ...files,
      "main.test.yaml": suite(line),
    });
    const mark = join(program.folder, "../canary");
    process.env["MARK"] = mark;
    rmSync(mark, { force: true });
    await expect(program.test()).rejects.toThrow(UntrustedProgram);
    expect(existsSync(mark)).toBe(false);
    delete process.env["MARK"];
  });
});

it("makes a scope beyond the program that a case brings an empty folder", async () => {
  const beyond = makeProgram({ "a.txt": "mine" });
  const main = worker(`sandbox: { paths: { h: { root: ${beyond.folder}, mode: rw } } }\ntoolsets: { filesystem: {} }`);
  const program = makeProgram({
    "main.worker": worker("description: x"),
    "script.yaml": "- reply: { calls: [{ tool: write_file, args: { path: h/a.txt, content: planted } }] }\n- reply: hi\n",
    "main.test.yaml": suite(`approve: all\n    files: { main.worker: ${text(main)} }\n    expect: { calls: { write_file: 1 } }`),
  });
  expect((await program.test()).cases).toMatchObject([{ outcome: "passed", failures: [] }]);
  expect(beyond.snapshot()).toEqual([["a.txt", "mine"]]);
});

it.each([
  ["scopes: { ../../home: evil }", "`../../home` is not a name"],
  ["scopes: { /home: evil }", "`/home` is not a name"],
  ["files: { ../out.txt: evil/a }", "`../out.txt` is not a path in the program's folder"],
  ["files: { in/../../out.txt: { text: x } }", "is not a path in the program's folder"],
  ["files: { /out.txt: { text: x } }", "is not a path in the program's folder"],
])("copies nothing to a place outside of the copy: %s", async (line, message) => {
  const program = makeProgram({
    "main.worker": worker("description: x"),
    "script.yaml": "- reply: hi\n",
    "evil/a": "planted",
    "main.test.yaml": suite(line),
  });
  await expect(program.test({ trust: true })).rejects.toThrow(message);
});

describe("the question", () => {
  const files = {
    "main.worker": worker("toolsets: { t1: {} }"),
    "tools.ts": asTool.replace(marking, ""),
    "script.yaml": "- reply: hi\n",
    "play.ts": "export default () => 'hi';\n",
    "main.test.yaml": `script: script.yaml
cases:
  - { name: one, input: x }
  - { name: two, input: x, script: play.ts, env: { A: b } }
  - { name: three, input: x, set: ["toolsets.shell={}"] }
`,
    "other.worker": worker("description: x"),
    "other.test.yaml": "script: script.yaml\ncases: [{ name: plain, input: x }]\n",
  };

  const asking = async (program: ReturnType<typeof makeProgram>, during?: () => void) => {
    const asked: Compiled[] = [];
    const confirm = async (needing: readonly Compiled[]) => {
      asked.push(...needing);
      during?.();
      for (const { trust } of needing) await trust?.();
    };
    const report = await program.test({ confirm });
    const [first, ...others] = asked;
    expect(others).toEqual([]);
    if (!first?.reach || !first.untrusted) throw new Error("no question was asked");
    return { report, untrusted: first.untrusted, reach: first.reach };
  };

  it("is asked once for all cases of a folder, and says what they can do", async () => {
    const program = makeProgram(files);
    const { report, untrusted } = await asking(program);
    expect(report.cases.map(({ outcome, failures }) => [outcome, failures])).toEqual(
      Array.from({ length: 4 }, () => ["passed", []]),
    );
    expect(untrusted.root).toBe(program.folder);
    expect(untrusted.reasons).toEqual([
      "runs code: tools.ts",
      "in tests runs code: play.ts, tools.ts",
      "in tests runs programs of this machine in: main",
    ]);
    expect(untrusted.files.every((path) => path.startsWith(program.folder))).toBe(true);
  });

  it("is the same again where nothing changed, and grows with a case", async () => {
    const program = makeProgram(files);
    const before = (await asking(program)).reach;
    expect(growthOf(before, (await asking(program)).reach)).toEqual([]);
    program.write("main.test.yaml", `${files["main.test.yaml"]}  - { name: four, input: x, script: other.ts }\n`);
    program.write("other.ts", files["play.ts"]);
    expect(growthOf(before, (await asking(program)).reach)).toEqual([
      expect.stringMatching(/^runs other\.ts in tests \(\w{16}\), with all of your rights$/),
    ]);
  });

  it("grows with the text of code that only tests run, and not with that of the program", async () => {
    const program = makeProgram(files);
    const before = (await asking(program)).reach;
    program.write("tools.ts", `${files["tools.ts"]}// More.\n`);
    expect(growthOf(before, (await asking(program)).reach)).toEqual([]);
    program.write("play.ts", `${files["play.ts"]}// More.\n`);
    expect(growthOf(before, (await asking(program)).reach)).toEqual([
      expect.stringMatching(/^runs play\.ts in tests \(\w{16}\)/),
    ]);
  });

  it("is for what the files said then", async () => {
    const program = makeProgram(files);
    const { report } = await asking(program, () => program.write("play.ts", 'import "./more.ts";\nexport default () => "hi";\n'));
    expect(report.cases.find(({ name }) => name === "two")).toMatchObject({ outcome: "failed" });
    const grown = makeProgram({ ...files, "more.ts": "export {};\n" });
    const second = await asking(grown, () => grown.write("play.ts", 'import "./more.ts";\nexport default () => "hi";\n'));
    expect(second.report.cases.find(({ name }) => name === "two")).toMatchObject({
      outcome: "failed",
      failures: [{ message: "its files have changed since it was asked for trust" }],
    });
  });

  it.each([
    ["a script", "play.ts", "two"],
    ["a module that a script imports", "dep.ts", "deep"],
    ["code that a case takes from a file", "put/t.txt", "put"],
  ])("covers no other text of %s", async (_, path, name) => {
    const program = makeProgram({
      ...files,
      "dep.ts": "export {};\n",
      "deep.ts": 'import "./dep.ts";\nexport default () => "hi";\n',
      "put/t.txt": files["play.ts"],
      "main.test.yaml": `${files["main.test.yaml"]}  - { name: deep, input: x, script: deep.ts }
  - { name: put, input: x, script: play.ts, files: { play.ts: put/t.txt } }
`,
    });
    const mark = join(program.folder, "../canary");
    process.env["MARK"] = mark;
    rmSync(mark, { force: true });
    const { report } = await asking(program, () => program.write(path, `${marking}export default () => "hi";\n`));
    expect(report.cases.find((one) => one.name === name)).toMatchObject({
      outcome: "failed",
      failures: [{ message: "its files have changed since it was asked for trust" }],
    });
    expect(existsSync(mark)).toBe(false);
    delete process.env["MARK"];
  });

  it("names code that a case brings, and asks again for another text of it", async () => {
    const program = makeProgram(files);
    const before = (await asking(program)).reach;
    const bring = (code: string) =>
      program.write(
        "main.test.yaml",
        `${files["main.test.yaml"]}  - { name: four, input: x, files: { tools.ts: ${text(code)} } }\n`,
      );
    bring(`${files["tools.ts"]}// one\n`);
    const { reach, untrusted } = await asking(program);
    const brought = expect.stringMatching(/^runs tools\.ts \(\w{16}\) of the case `four`, with all of your rights$/);
    expect(growthOf(before, reach)).toEqual([brought]);
    expect(untrusted.reasons).toContainEqual(
      expect.stringMatching(/^in tests runs code that the case `four` brings: tools\.ts \(\w{16}\)$/),
    );
    expect(growthOf(reach, (await asking(program)).reach)).toEqual([]);
    bring(`${files["tools.ts"]}// two\n`);
    expect(growthOf(reach, (await asking(program)).reach)).toEqual([brought]);
  });

  it("shows the values that cases give to variables of the program", async () => {
    const program = makeProgram({
      "main.worker": worker("toolsets: { helper: {} }"),
      "helper.worker": worker("description: x\nmodel: own:m"),
      "llm-do.yaml": "providers: { own: { type: openai-compatible, base_url: '${AT}/v1' } }\n",
      "script.yaml": "- reply: hi\n",
      "main.test.yaml": suite("env: { AT: 'https://evil.example' }\n    set: [helper.model=own:m]"),
    });
    const { untrusted, reach } = await asking(program);
    expect(untrusted.reasons).toContain("in tests takes the variable AT as https://evil.example");
    expect(reach.variables).toContain("AT=https://evil.example");
  });
});
