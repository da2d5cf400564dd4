import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, script, writeProgram } from "./run-cli.ts";

/** Reads a note, writes it out again, and has a helper do the same with the scope of that name. */
async function program(): Promise<string> {
  const calls = [
    { calls: [{ tool: "read_file", args: { path: "notes/a.md" } }] },
    { calls: [{ tool: "write_file", args: { path: "out/b.md", content: "written" } }] },
  ];
  const sandbox = "sandbox: { paths: { notes: { root: ./notes }, out: { root: ./out, mode: rw, write_approval: false } } }\n";
  const toolsets = "toolsets: { filesystem: {} }\n";
  const cwd = await writeProgram({
    "main.worker": `---\nmodel: scripted:model.yaml\n${sandbox}${toolsets}---\nGo.\n`,
    "model.yaml": script({ main: [...calls, "done"] }),
    "notes/a.md": "from the program",
  });
  await mkdir(join(dirname(cwd), "mine"));
  await writeFile(join(dirname(cwd), "mine/a.md"), "from elsewhere");
  return cwd;
}

describe("--scope", () => {
  const flags = ["--scope", "notes=../mine", "--scope", "out=../written"];

  it("gives a declared scope another folder for a run, also outside of the program, without a question of trust", async () => {
    const cwd = await program();
    const { exitCode, stdout, stderr } = await runCli([".", "go", "-v", ...flags], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
    expect(stderr).toContain("from elsewhere");
    expect(await readFile(join(dirname(cwd), "written/b.md"), "utf8")).toBe("written");
    const without = await runCli([".", "go", "-v"], { cwd });
    expect(without.stderr).toContain("from the program");
  });

  it("is relative to the working directory, and not to the program", async () => {
    const cwd = await program();
    const { stderr, exitCode } = await runCli(["program", "go", "-v", "--scope", "notes=mine"], { cwd: dirname(cwd) });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("from elsewhere");
  });

  it("is shown by explain and --dry-run", async () => {
    const cwd = await program();
    const explained = await runCli(["explain", ...flags], { cwd });
    expect(explained.stdout.replaceAll(/\s+/g, " ")).toContain(
      `${dirname(cwd)}/mine (OUTSIDE the program; scope notes, by --scope`,
    );
    const json = JSON.parse((await runCli(["explain", "--format", "json", ...flags], { cwd })).stdout);
    expect(json.workers[0].scopes[0]).toMatchObject({
      name: "notes",
      root: `${dirname(cwd)}/mine`,
      outside: true,
      isChosen: true,
    });
    const dry = await runCli([".", "go", "--dry-run", "--json", ...flags], { cwd });
    expect(JSON.parse(dry.stdout).ceiling.reads).toEqual([`${dirname(cwd)}/mine`, `${dirname(cwd)}/written`]);
  });

  it("does not lend trust: a root that a file names outside of the program still needs it", async () => {
    const cwd = await program();
    const text = await readFile(join(cwd, "main.worker"), "utf8");
    await writeFile(join(cwd, "main.worker"), text.replace("./out", "../elsewhere"));
    const { exitCode, stderr } = await runCli([".", "go", "--scope", "notes=../mine"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("is not trusted");
    expect((await runCli([".", "go", ...flags], { cwd })).exitCode).toBe(0);
  });

  it.each([
    [["--scope", "note=../mine"], "did you mean `notes`?"],
    [["--scope", "notes=../gone"], "the root `../gone` of the scope `notes` is not there"],
    [["--scope", "notes=main.worker"], "is not a folder"],
    [["--scope", "notes"], "It must be name=folder"],
    [["--scope", "=x"], "It must be name=folder"],
  ])("says what is wrong with %j, and where", async (wrong, said) => {
    const cwd = await program();
    for (const command of [[".", "go"], ["check"], ["explain"]]) {
      const { exitCode, stderr } = await runCli([...command, ...wrong], { cwd });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(said);
      expect(stderr).toContain("--scope");
    }
  });
});
