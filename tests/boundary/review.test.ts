import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTerminal } from "../cli/open-terminal.ts";
import { runCli } from "../cli/run-cli.ts";

const cwd = mkdtempSync(join(tmpdir(), "llm-do-review-"));
const script = `export default (request) => ({ json: { kind: JSON.stringify(request).includes("hangs") ? "bug" : "wish" } });\n`;
const worker = "---\ndescription: Sorts.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n";

beforeAll(async () => {
  writeFileSync(join(cwd, "triage.worker"), worker);
  writeFileSync(join(cwd, "script.mjs"), script);
  writeFileSync(
    join(cwd, "rows.jsonl"),
    ["it hangs", "please", "a third"].map((message) => JSON.stringify({ message })).join("\n"),
  );
  const map = ["map", "triage.worker", "--inputs", "rows.jsonl", "--model", "scripted:script.mjs", "--parallel", "1"];
  expect(await runCli(map, { cwd })).toMatchObject({ exitCode: 0 });
}, 60_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const review = ["calls", "triage", "triage.worker", "--review", "--out", "x.jsonl"];
const labels = () =>
  readFileSync(join(cwd, "x.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { readonly label?: unknown }).label);

describe("llm-do calls --review", { timeout: 60_000 }, () => {
  it("writes each label before the next question, and goes on where it was left", async () => {
    const first = openTerminal(review, { cwd });
    await first.waitFor("case 1 of 3");
    first.type("r\r");
    await first.waitFor("case 2 of 3");
    expect(labels()).toEqual([{ verdict: "right" }, undefined, undefined]);
    first.type("q\r");
    expect(await first.exitCode, first.screen()).toBe(0);
    const second = openTerminal(review, { cwd });
    await second.waitFor("case 1 of 2");
    second.type("e\r");
    await second.waitFor('> {"kind":"wish"}');
    second.type(`\u0015{"kind":"other"}\r`);
    await second.waitFor("This is not written");
    await second.waitFor("case 1 of 2");
    second.type("e\r");
    await second.waitFor('> {"kind":"wish"}');
    second.type(`\u0015{"kind":"bug"}\r`);
    await second.waitFor("case 2 of 2");
    second.type("w\r");
    expect(await second.exitCode, second.screen()).toBe(0);
    expect(labels()).toEqual([{ verdict: "right" }, { verdict: "corrected", output: { kind: "bug" } }, { verdict: "wrong" }]);
  });

  it("writes no case file over another, and names a broken line", async () => {
    const { exitCode, stderr } = await runCli(["calls", "triage", "triage.worker", "--out", "x.jsonl"], { cwd });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("there is such a file") });
    writeFileSync(join(cwd, "broken.jsonl"), `{"worker":"triage"\n`);
    const broken = await runCli([...review.slice(0, -1), "broken.jsonl"], { cwd });
    expect(broken).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("broken.jsonl: line 1: this is not JSON") });
  });
});

describe("llm-do drift", { timeout: 60_000 }, () => {
  it("shows how checks agreed with the prompt, by week, and exits with 1 where all of the interval is too low", async () => {
    writeFileSync(
      join(cwd, "tools.ts"),
      `export const sort = ({ message }) => ({ kind: message === "a third" ? "bug" : "wish" });\n`,
    );
    writeFileSync(join(cwd, "checked.worker"), worker.replace("---\nSort", "code: tools.ts:sort\ncheck: 1\n---\nSort"));
    const map = [
      "map",
      "checked.worker",
      "--inputs",
      "rows.jsonl",
      "--model",
      "scripted:script.mjs",
      "--price",
      "scripted:script.mjs=0,0",
    ];
    expect(await runCli([...map, "--trust"], { cwd })).toMatchObject({ exitCode: 0 });
    const drift = ["drift", "checked", "checked.worker"];
    const shown = await runCli(drift, { cwd });
    expect(shown).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^week of \d{4}-\d\d-\d\d {2}1 of 3, .*; differ: kind 2\n$/),
    });
    expect((await runCli([...drift, "--at-least", "0.7"], { cwd })).exitCode).toBe(0);
    expect((await runCli([...drift, "--at-least", "0.9"], { cwd })).exitCode).toBe(1);
    expect(await runCli(["drift", "triage", "triage.worker"], { cwd })).toMatchObject({
      ...{ exitCode: 0, stdout: "", stderr: expect.stringContaining("no recorded check of `triage`") },
    });
  });
});
