import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, runCli, script, writeProgram } from "./run-cli.ts";

/** On a machine with bubblewrap, bubblewrap itself hides it; elsewhere there is no wall anyway. */
const bubblewrap = "/usr/bin/bwrap";
const hiding = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", bubblewrap, process.execPath];
const bare = existsSync(bubblewrap)
  ? { node: bubblewrap, bin: hiding[0] as string, first: [...hiding.slice(1), bin] }
  : { first: [] };

const preApproved = '_approval_config: { "*": { pre_approved: true } }';
const files = {
  "main.worker": `---
model: scripted:model.yaml
sandbox: { paths: { w: { root: ./w, mode: rw } } }
toolsets: { shell: { rules: [{ pattern: touch made, unisolated: true, approval_required: false }], ${preApproved} } }
---
Go.
`,
  "model.yaml": script({ main: [{ calls: [{ tool: "shell", args: { command: "touch made", cwd: "w" } }] }, "done"] }),
  "w/a.txt": "a",
};

async function runBare(words: readonly string[]) {
  const { first, ...how } = bare;
  const cwd = await writeProgram(files);
  const result = await runCli([...first, ...words], { cwd, ...how });
  return { ...result, made: await readFile(join(cwd, "w/made"), "utf8").catch(() => undefined) };
}

const call = ["shell", '{"command":"touch made","cwd":"w"}'];

describe.runIf(process.platform === "linux")("a machine that cannot isolate commands", () => {
  it("denies an unattended run what rules and pre-approvals would allow", async () => {
    const { exitCode, made, stderr } = await runBare([".", "go", "--trust", "--approve", "shell(touch *)"]);
    expect({ exitCode, made }).toEqual({ exitCode: 4, made: undefined });
    expect(stderr).toContain("Run (not isolated) in w: touch made");
  });

  it("lets them run with --unisolated", async () => {
    expect(await runBare([".", "go", "--trust", "--unisolated"])).toMatchObject({ exitCode: 0, stdout: "done\n", made: "" });
  });

  it.each([
    ["asks", [], { verdict: "ask" }, 4, "else each asks"],
    ["allows with --unisolated", ["--unisolated"], { verdict: "allowed" }, 0, "plain readers and what rules spell out"],
  ] as const)("%s, by `verdict`, `check --headless` and `explain` too", async (_, flags, verdict, code, text) => {
    const judged = await runBare(["verdict", ".", ...call, "--json", "--trust", ...flags]);
    expect(JSON.parse(judged.stdout)).toMatchObject(verdict);
    expect((await runBare(["check", "--headless", "--trust", ...flags])).exitCode).toBe(code);
    expect((await runBare(["explain", "--trust", ...flags])).stdout.replace(/\s+/g, " ")).toContain(text);
  });
});
