import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, writeProgram } from "./run-cli.ts";

const files = {
  "main.worker": "---\n\n---\nAnswer.\n",
  "play.yaml": "- reply: yes\n",
  "main.test.yaml":
    "script: play.yaml\ncases:\n  - { name: one, input: x, expect: { output: yes } }\n  - { name: two, input: x, expect: { output: no } }\n",
};

describe("llm-do test", () => {
  test("prints a line for each case, what failed, and a sum; 1 where one fails", async () => {
    const cwd = await writeProgram({
      ...files,
      "main.test.yaml": files["main.test.yaml"].replaceAll("yes", "'yes'").replace(": no ", ": 'no' "),
    });
    const failed = await runCli(["test"], { cwd });
    expect(failed).toMatchObject({ exitCode: 1, stderr: "" });
    expect(failed.stdout).toMatch(
      /^ok {4}main\.test\.yaml: one\nFAIL {2}main\.test\.yaml: two\n {6}output: is not "no"; it is "yes"\n1 passed, 1 failed, in [\d.]+ s\n$/,
    );
  });

  test("2 where nothing could run, with the reason", async () => {
    const cwd = await writeProgram({
      ...files,
      "play.ts": "export default () => 'yes';\n",
      "main.test.yaml": "cases: [{ name: a, script: play.ts, expct: {} }]\n",
    });
    const mistake = await runCli(["test"], { cwd });
    expect(mistake).toMatchObject({ exitCode: 2, stdout: "" });
    expect(mistake.stderr).toContain("error[unknown-key]: `cases.0` has no key `expct`\n --> main.test.yaml:1:37");
    const both = await runCli(["test", "--live", "--record"], { cwd });
    expect(both).toMatchObject({ exitCode: 2 });
    expect(both.stderr).toContain("--live and --record exclude one another");
  });

  test("asks for trust of scripts in TypeScript", async () => {
    const cwd = await writeProgram({
      ...files,
      "play.ts": "export default () => 'yes';\n",
      "main.test.yaml": "cases: [{ name: a, input: x, script: play.ts }]\n",
    });
    const untrusted = await runCli(["test"], { cwd });
    expect(untrusted).toMatchObject({ exitCode: 2, stdout: "" });
    expect(untrusted.stderr).toContain("in tests runs code: play.ts");
    expect(await runCli(["test", "--trust", "--filter", "a"], { cwd })).toMatchObject({ exitCode: 0 });
  });

  test.skipIf(process.platform === "win32").each([
    ["a relative root", "sandbox: { paths: { research: { root: ../../research } } }", "[]"],
    ["a relative root to write in", "sandbox: { paths: { research: { root: ../../research, mode: rw } } }", "[]"],
    ["a link", "sandbox: { paths: { research: { root: ./link } } }", "[]"],
    ["skills by a relative root", "_use: skills, root: ../../research", '["research/look/SKILL.md"]'],
    ["skills by an absolute root", "_use: skills, root: ROOT/research", '["research/look/SKILL.md"]'],
  ])("runs a program that reaches beyond its folder by %s, and asks for the folder that it is", async (_, keys, seen) => {
    const root = await writeProgram({
      "research/look/SKILL.md": "---\nname: look\ndescription: Look at it.\n---\nLook.\n",
      "programs/mine/play.ts":
        "export default (r) => r.toolResults().length > 0 ? JSON.stringify(r.toolResults()[0].result.value.files) : { calls: [{ tool: 'list_files', args: { path: 'research' } }] };\n",
      "programs/mine/main.test.yaml": `script: play.ts\ncases: [{ name: one, input: x, expect: { output: '${seen}' } }]\n`,
    });
    const cwd = join(root, "programs/mine");
    const [skills, scopes] = keys.startsWith("_use") ? [`research: { ${keys.replace("ROOT", root)} }, `, ""] : ["", `${keys}\n`];
    await writeFile(join(cwd, "main.worker"), `---\n${scopes}toolsets: { ${skills}filesystem: {} }\n---\nAnswer.\n`);
    await symlink(join(root, "research"), join(cwd, "link"));
    const { stderr } = await runCli(["test"], { cwd });
    const asked = [...stderr.matchAll(/reaches beyond its folder in main: reads (?:and writes )?(.*)/g)].map(([, path]) => path);
    expect(asked).toEqual([join(root, "research")]);
    const ran = await runCli(["test", "--trust"], { cwd });
    expect(ran.stdout).toMatch(/^ok {4}main\.test\.yaml: one\n/);
    expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("2 where a file with cases is named so that it would never run", async () => {
    const cwd = await writeProgram({ ...files, "main.tests.yaml": files["main.test.yaml"], "helper.test.yml": "cases: []\n" });
    const misnamed = await runCli(["test"], { cwd });
    expect(misnamed).toMatchObject({ exitCode: 2, stdout: "" });
    expect(misnamed.stderr).toContain("`main.tests.yaml` is not read");
    expect(misnamed.stderr).toContain("rename it to `helper.test.yaml`");
  });
});

describe("the mistakes of test files", () => {
  const workers = {
    "main.worker": `---
toolsets: { filesystem: {}, child: {} }
sandbox: { paths: { out: { root: ./out, mode: rw } } }
---
Answer.
`,
    "child.worker": "---\n---\nAnswer.\n",
    "play.yaml": "- reply: yes\n",
  };
  const cases = "script: play.yaml\ncases:\n  - name: one\n    input: x\n    ";

  test.each([
    ["a key for refused calls", "expect: { denied: 0 }", "did you mean `refused: { TOOL: 1 }`?"],
    ["a key", "expct: { output: y }", "has no key `expct`\n --> main.test.yaml:5:5"],
    [
      "a worker",
      "expect: { calls: { chidl: 1 } }",
      "error[approval-rule-unused]: `chidl` matches no tool that is meant, so nothing is tested\n --> main.test.yaml:5:24",
    ],
    ["a file", "script: plya.yaml", "there is no file `plya.yaml`\n --> main.test.yaml:5:13"],
    [
      "what the copy lacks",
      "without: [uot]\n    expect: { stop: done }",
      "there is no file or folder `uot`\n --> main.test.yaml:5:15",
    ],
    [
      "a scope beyond the program's folder",
      "scopes: { out: .. }",
      "copy what the test needs into the program's folder, and write the path of the copy, such as `scopes: { out: sample }`",
    ],
    [
      "a file beyond the program's folder",
      "files: { in: .. }",
      "copy what the test needs into the program's folder, and write the path of the copy, such as `sample`",
    ],
    ["YAML", "expect: { stop: done", "error["],
  ])("are found by `check` and by `test`: %s", async (_, line, message) => {
    const cwd = await writeProgram({ ...workers, "main.test.yaml": `${cases}${line}\n` });
    for (const command of ["check", "test"]) {
      const { exitCode, stdout, stderr } = await runCli([command], { cwd });
      expect(`${stdout}${stderr}`).toContain(command === "test" && line.includes("chidl") ? "chidl" : message);
      expect(exitCode).toBe(2);
    }
  });

  test("are none where what earlier runs write is not there yet", async () => {
    const line = "without: [out, out/lists.md]\n    expect: { stop: done, never: [child] }";
    const cwd = await writeProgram({ ...workers, "main.test.yaml": `${cases}${line}\n` });
    expect(await runCli(["check"], { cwd })).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("no errors") });
    expect(await runCli(["test"], { cwd })).toMatchObject({ exitCode: 0 });
  });
});
