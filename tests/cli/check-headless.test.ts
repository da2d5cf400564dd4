import { describe, expect, it } from "vitest";
import { copyExample, runCli, script, scripted, writeProgram } from "./run-cli.ts";

function worker(frontmatter: string): string {
  return `---\nmodel: scripted:model.yaml\n${frontmatter}\n---\nGo.\n`;
}

async function check(files: Record<string, string>, flags: readonly string[] = []) {
  const cwd = await writeProgram({ "model.yaml": script({ "*": ["done"] }), ...files });
  return { cwd, ...(await runCli(["check", "--headless", ...flags], { cwd })) };
}

async function json(files: Record<string, string>, flags: readonly string[] = []) {
  const { exitCode, stdout } = await check(files, ["--format", "json", ...flags]);
  return { exitCode, report: JSON.parse(stdout) };
}

describe("check --headless", () => {
  it("tells the lines that a denied run tells, and its exit code", async () => {
    const cwd = await copyExample();
    const checked = await runCli(["check", "--headless", "--model", scripted], { cwd });
    const ran = await runCli([".", "--headless", "--model", scripted], { cwd });
    const [line] = /in main: toolsets: .*write_file.*/.exec(ran.stderr) ?? [];
    expect(line).toBeDefined();
    expect(checked.stdout).toContain(`main > write_file: writes ask unless their scope says otherwise\n    ${line}\n`);
    expect([checked.exitCode, ran.exitCode]).toEqual([4, 4]);
    expect(checked.stderr).toContain("llm-do: unattended: 3 tools always ask\n");
  });

  it("agrees with the run under a rule that allows all that the run calls", async () => {
    const cwd = await copyExample();
    const rule = ["--headless", "--model", scripted, "--approve", "main/write_file(reports/*)"];
    const checked = await runCli(["check", ...rule], { cwd });
    const ran = await runCli([".", ...rule], { cwd });
    expect([checked.exitCode, ran.exitCode]).toEqual([0, 0]);
    expect(checked.stdout).toContain("main > append_file");
    expect(checked.stderr).toContain("a run that calls only what --approve allows is denied nothing\n");
    expect((await runCli(["check", ...rule, "--approve", "main/write_fil"], { cwd })).exitCode).toBe(4);
  });

  it("is content where that line is written", async () => {
    const allowed = 'toolsets: { filesystem: { _approval_config: { "*": { pre_approved: true } } } }';
    const { exitCode, stdout } = await check({ "main.worker": worker(allowed) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Unattended: nothing that it can call asks.\n" });
  });

  it("gives no line where none allows it: a rule of a scope, `pre_approved: false`, a call by code", async () => {
    const scopes = "sandbox: { paths: { out: { root: ., mode: rw, write_approval: true } } }";
    const { report } = await json(
      {
        "main.worker": worker(
          `toolsets: { filesystem: {}, quiet: { _approval_config: { quiet: { pre_approved: false } } }, outer: {} }\n${scopes}`,
        ),
        "helper.worker": worker("description: Helps."),
        "tools.ts": `import { tool } from "llm-do";
const input = { type: "object" };
export const quiet = tool({ input, run: () => 1 });
export const inner = tool({ input, calls: ["helper"], approval: "pre-approved", run: () => 1 });
export const outer = tool({ input, calls: ["inner"], run: () => 1 });
`,
      },
      ["--trust"],
    );
    const shown = report.calls.map(({ tool, verdict, allow }: Record<string, string>) => [tool, verdict, allow !== undefined]);
    expect(shown).toEqual([
      ["write_file", "asks", false],
      ["append_file", "asks", false],
      ["edit_file", "asks", false],
      ["quiet", "asks", false],
      ["outer", "asks", true],
      ["helper", "asks", false],
    ]);
  });

  it("tells what depends on the arguments, and does not fail for it", async () => {
    const rules = "toolsets: { shell: { rules: [{ pattern: ls, approval_required: false }] } }";
    const { exitCode, report } = await json({ "main.worker": worker(rules) }, ["--trust"]);
    expect({ exitCode, inReport: report.exitCode }).toEqual({ exitCode: 0, inReport: 0 });
    expect(report.calls).toMatchObject([{ caller: "main", tool: "shell", verdict: "depends" }]);
  });

  it("tells what workers below ask, and nothing of those that are not reached", async () => {
    const { exitCode, stdout } = await check({
      "main.worker": worker("toolsets: { helper: {} }"),
      "helper.worker": worker("description: Helps.\ntoolsets: { filesystem: {} }"),
      "idle.worker": worker("description: Idles.\ntoolsets: { filesystem: {} }"),
    });
    expect(exitCode).toBe(4);
    expect(stdout).toContain("main > helper: a call to a worker asks unless it is pre-approved");
    expect(stdout).toContain("helper > write_file");
    expect(stdout).not.toContain("idle");
  });

  it("tells what a code entry calls", async () => {
    const files = {
      "helper.worker": worker("description: Helps."),
      "tools.ts": 'export const main = async (_: object, runtime: { call(name: string): unknown }) => runtime.call("helper");\n',
    };
    const { exitCode, report } = await json(files, ["--trust", "--entry", "tools.ts:main"]);
    const call = { caller: "main", tool: "helper", approve: "main/helper" };
    expect({ exitCode, calls: report.calls }).toMatchObject({ exitCode: 4, calls: [call] });
  });

  it("gives 2 where the program is not trusted, or has mistakes: so would the run", async () => {
    const tools = 'import { tool } from "llm-do";\nexport const quiet = tool({ input: { type: "object" }, run: () => 1 });\n';
    const untrusted = await json({ "main.worker": worker("toolsets: { quiet: {} }"), "tools.ts": tools });
    expect(untrusted).toMatchObject({ exitCode: 2, report: { trusted: false, calls: [{ verdict: "unverified" }], exitCode: 2 } });
    const wrong = await json({ "main.worker": worker("modle: x") });
    expect(wrong).toMatchObject({ exitCode: 2, report: { diagnostics: [{ code: "unknown-key" }], exitCode: 2 } });
  });

  it("gives 0 where the manifest denies what asks: so would the run", async () => {
    const files = { "main.worker": worker("toolsets: { filesystem: {} }"), "llm-do.yaml": "approval: { mode: reject_all }\n" };
    const { exitCode, stderr, cwd } = await check(files);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("the manifest says `reject_all`");
    expect((await runCli([".", "go", "--headless"], { cwd })).exitCode).toBe(0);
  });

  it("has no form of annotations", async () => {
    const { exitCode, stderr } = await check({ "main.worker": worker("toolsets: {}") }, ["--format", "sarif"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
    expect(stderr).toContain("take text or json");
  });
});
