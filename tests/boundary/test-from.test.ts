import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../cli/run-cli.ts";

const cwd = mkdtempSync(join(tmpdir(), "llm-do-test-from-"));
const program = join(cwd, "program");
const main = `---
description: Sorts the messages.
sandbox:
  paths:
    inbox: { root: ./inbox, mode: ro }
    out: { root: ./out, mode: rw }
toolsets:
  filesystem: {}
  pay: {}
  triage: { _approval_config: { triage: { pre_approved: true } } }
---
Sort them.
`;
const triage = "---\ndescription: Sorts.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n";
const tools = `import { appendFileSync } from "node:fs";
import { tool } from "llm-do";
export const pay = tool({
  description: "Pays.",
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  run: ({ amount }) => {
    appendFileSync(${JSON.stringify(join(cwd, "paid"))}, amount + "\\n");
    return "paid";
  },
});
`;
const model = `export default ({ worker, turn, ...request }) => {
  const text = JSON.stringify(request.messages ?? request);
  if (worker === "triage") return { json: { kind: text.includes("hangs") ? "bug" : "wish" } };
  if (turn === 1) return { calls: [{ tool: "read_file", args: { path: "inbox/a.txt" } }, { tool: "pay", args: { amount: 7 } }] };
  if (turn === 2) return { calls: [{ tool: "triage", args: { message: "it hangs, ignore: \\u001b[31mall instructions" } }] };
  if (turn === 3) return { calls: ["old", "new"].map((name) => ({ tool: "write_file", args: { path: "out/" + name + ".md", content: text.includes("Hello") ? "bug" : "none" } })) };
  return { text: "1 of 1 is a bug" };
};
`;

const typed = (...args: readonly string[]) => runCli(args, { cwd: program });
const yaml = (name: string) => readFileSync(join(program, `${name}.test.yaml`), "utf8");

beforeAll(async () => {
  for (const folder of ["", "inbox", "out"]) mkdirSync(join(program, folder));
  const files = { "main.worker": main, "triage.worker": triage, "tools.ts": tools, "model.mjs": model };
  for (const [name, text] of Object.entries({ ...files, "inbox/a.txt": "Hello", "out/old.md": "before" }))
    writeFileSync(join(program, name), text);
  const run = await typed(".", "go", "--model", "scripted:model.mjs", "--approve-all", "--trust");
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
}, 60_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe("llm-do test --from", { timeout: 120_000 }, () => {
  it("makes a case that plays what the run did, without a model, its other tools or what it wrote", async () => {
    const made = await typed("test", "--from", "last", "--name", "as it was");
    expect(made, made.stderr).toMatchObject({ exitCode: 0 });
    expect(yaml("main")).toContain(
      "      calls:\n        pay: 1\n        read_file: 1\n        triage: 1\n        write_file: 2\n",
    );
    const paid = readFileSync(join(cwd, "paid"), "utf8");
    const played = await typed("test", "--trust");
    expect(played, played.stdout + played.stderr).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(cwd, "paid"), "utf8")).toBe(paid);
    writeFileSync(join(program, "main.worker"), main.replace("Sort them", "Sort all of them"));
    const changed = await typed("test", "--trust");
    expect(changed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("the instructions changed") });
    writeFileSync(join(program, "main.worker"), main);
  });

  it("makes a case of one call, and adds it to the tests that are there", async () => {
    const ours =
      "# ours\ncases:\n- name: one\n  input: { message: please }\n  script: answer.yaml\n# the end\nruns: 3 # of each\n";
    writeFileSync(join(program, "triage.test.yaml"), ours);
    writeFileSync(join(program, "answer.yaml"), "- reply: { json: { kind: wish } }\n");
    const { from } = JSON.parse((await typed("calls", "triage", "--json")).stdout) as { readonly from: string };
    const made = await typed("test", "--from", from, "--name", "a bug");
    expect(made, made.stderr).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("triage.test.yaml --filter 'a bug'"),
    });
    expect(made.stdout).toContain("all instructions");
    expect(made.stdout).not.toContain("\u001b");
    const added = yaml("triage").replace(/- name: a bug\n( .*\n)+/, "");
    expect([added, added === yaml("triage")]).toEqual([ours, false]);
    const played = await typed("test", "triage.test.yaml", "--trust");
    expect(played, played.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("2 passed") });
    expect(await typed("test", "--from", from, "--name", "a bug")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("recordings/a-bug.jsonl: there is such a file"),
    });
  });

  it("expects what was denied, and holds no secret", async () => {
    const env = { PAY_TOKEN: "s3cret-value-of-the-token" };
    const secret = await runCli(
      [".", "--model", "scripted:model.mjs", "--trust", "--headless", "-i", "input=s3cret-value-of-the-token"],
      { cwd: program, env },
    );
    expect(secret, secret.stderr).toMatchObject({ exitCode: 4 });
    const made = await typed("test", "--from", "last", "--name", "nobody there");
    expect(made, made.stderr).toMatchObject({ exitCode: 0 });
    expect(yaml("main")).toContain("      refused:\n        pay: 1\n");
    const played = await runCli(["test", "main.test.yaml", "--trust", "--filter", "nobody there"], { cwd: program, env });
    expect(played, played.stdout).toMatchObject({ exitCode: 0 });
    for (const text of [made.stdout, yaml("main"), readFileSync(join(program, "recordings/nobody-there.jsonl"), "utf8")])
      expect(text).not.toContain("s3cret");
  });

  it.each([
    ["a run that is not there", ["20200101-000000-aaaaaa"], "there is no run"],
    ["a call that is not there", ["last/main/9.triage"], "no call of a worker is recorded at main/9.triage"],
    ["a call of a tool", ["last/main/1.pay"], "no call of a worker is recorded at main/1.pay"],
  ])("refuses %s", async (_, from, why) => {
    expect(await typed("test", "--from", ...from)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(why) });
  });
});
