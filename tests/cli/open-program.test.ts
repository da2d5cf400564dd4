import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { runCli, script, writeProgram } from "./run-cli.ts";

const question = "  no      do not run it\n>";
const preload = pathToFileURL(join(import.meta.dirname, "fixtures/list-reads.mjs"));

const code = `import { tool } from "llm-do";
import { note } from "./note.ts";
export const shout = tool({ description: "Say it.", input: { type: "object" }, approval: "pre-approved", run: () => note });
`;
const files = {
  "main.worker": `---
model: scripted:model.yaml
input: { type: object, properties: { company: { type: string }, count: { type: integer } }, required: [company] }
toolsets: { shout: {} }
---
About {{ company }}.
`,
  "tools.ts": code,
  "note.ts": 'export const note = "as shown";\n',
  "model.yaml": script({ main: [{ calls: [{ tool: "shout", args: {} }] }, "played as shown"] }),
};
const plain = {
  "main.worker": files["main.worker"].replace("toolsets: { shout: {} }", "toolsets: {}"),
  "model.yaml": script({ main: ["played"] }),
};

/** How often the process opened each source of the program. */
async function countReads(args: readonly string[], cwd: string): Promise<Readonly<Record<string, number>>> {
  const list = join(dirname(cwd), "reads");
  await rm(list, { force: true });
  const { exitCode, stderr } = await runCli(args, { cwd, env: { READS: list, NODE_OPTIONS: `--import=${preload}` } });
  expect(exitCode, stderr).toBe(0);
  const counts: Record<string, number> = {};
  for (const path of (await readFile(list, "utf8")).trimEnd().split("\n")) {
    if (path.startsWith(`${cwd}/`) && !path.includes("/.llm-do")) counts[basename(path)] = (counts[basename(path)] ?? 0) + 1;
  }
  return counts;
}

async function trusted(): Promise<string> {
  const cwd = await writeProgram(files);
  const terminal = openTerminal([".", "-i", "company=Acme"], { cwd });
  await terminal.waitFor(question);
  terminal.type("always\r");
  expect(await terminal.exitCode, terminal.screen()).toBe(0);
  return cwd;
}

const input = ["-i", "company=Acme", "-i", "count=2"];
const rule = ["--deny", "write_file"];

describe("one compilation for a command", { timeout: 90_000 }, () => {
  it.each<[string, readonly string[], { readonly isTrusted: boolean }]>([
    ["a run", [".", "Acme"], { isTrusted: false }],
    ["a run with fields", [".", ...input], { isTrusted: false }],
    ["a run with fields and a rule", [".", ...input, ...rule], { isTrusted: false }],
    ["a run of a trusted folder", [".", "Acme"], { isTrusted: true }],
    ["a run of a trusted folder, with fields", [".", ...input], { isTrusted: true }],
    ["a run of a trusted folder, with fields and a rule", [".", ...input, ...rule], { isTrusted: true }],
    ["a dry run of a trusted folder, with fields and a rule", [".", "--dry-run", ...input, ...rule], { isTrusted: true }],
    ["check of a trusted folder", ["check", ".", "--model", "anthropic:m"], { isTrusted: true }],
    ["explain of a trusted folder", ["explain", "."], { isTrusted: true }],
    ["verdict in a trusted folder, with a rule", ["verdict", ".", "shout", ...rule], { isTrusted: true }],
  ])("%s reads each source once", async (_, args, { isTrusted }) => {
    const cwd = isTrusted ? await trusted() : await writeProgram(plain);
    const counts = await countReads(args, cwd);
    const sources = isTrusted ? ["main.worker", "model.yaml", "note.ts", "tools.ts"] : ["main.worker", "model.yaml"];
    expect(counts).toEqual(Object.fromEntries(sources.map((name) => [name, 1])));
  });
});

describe("files that change while the question of trust stands", { timeout: 90_000 }, () => {
  async function answerAfter(change: (cwd: string) => Promise<void>, answer: string) {
    const cwd = await writeProgram(files);
    const terminal = openTerminal([".", "-i", "company=Acme"], { cwd, columns: 200 });
    await terminal.waitFor(question);
    await change(cwd);
    terminal.type(`${answer}\r`);
    return { cwd, exitCode: await terminal.exitCode, screen: terminal.screen() };
  }
  const evil = (cwd: string) =>
    `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(join(cwd, "ran"))}, "");\n`;

  it.each([["tools.ts"], ["note.ts"]])("code that was not shown does not run: %s", async (name) => {
    for (const answer of ["yes", "always"]) {
      const { cwd, exitCode, screen } = await answerAfter(
        async (folder) => writeFile(join(folder, name), evil(folder) + files[name as keyof typeof files]),
        answer,
      );
      expect(exitCode, screen).toBe(2);
      expect(screen).toContain("has changed since it was read");
      expect(existsSync(join(cwd, "ran"))).toBe(false);
      expect(existsSync(join(dirname(cwd), "state/trust.json"))).toBe(false);
    }
  });

  it("a worker and a script run as they were shown", async () => {
    const { exitCode, screen } = await answerAfter(async (cwd) => {
      await writeFile(join(cwd, "main.worker"), files["main.worker"].replace("shout: {}", "filesystem: {}, shell: {}"));
      await writeFile(join(cwd, "model.yaml"), script({ main: ["replaced"] }));
    }, "yes");
    expect(exitCode, screen).toBe(0);
    expect(screen).toContain("played as shown");
    expect(screen).not.toContain("replaced");
  });
});
