import { describe, expect, test } from "vitest";
import type { ApprovalRule } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const files = {
  "main.worker": worker("toolsets: { filesystem: {}, helper: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }"),
  "helper.worker": worker(
    "description: Helps.\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }",
  ),
};

/** main writes out/main, then calls helper, which writes out/helper. */
async function runUnder(rules: readonly ApprovalRule[], manifest = "") {
  const played = await play({
    files: { ...files, ...(manifest ? { "llm-do.yaml": manifest } : {}) },
    request: { input: "go" },
    approval: { mode: "prompt", rules },
    model: ({ worker: name, turn }) => {
      if (turn > 1) return "done";
      const write = { tool: "write_file", args: { path: `out/${name}`, content: "x" } };
      return { calls: name === "main" ? [write, { tool: "helper", args: { input: "go" } }] : [write] };
    },
  });
  const verdicts = played.journal.flatMap((entry) => (entry.type === "verdict" ? [[entry.callPath, entry.verdict.type]] : []));
  return {
    ...played,
    verdicts: Object.fromEntries(verdicts),
    written: Object.keys(played.files).filter((path) => path.startsWith("out/")),
  };
}

describe("rules of a run", () => {
  test("allow by worker and argument, at every depth", async () => {
    const allow = (rule: string): ApprovalRule => ({ effect: "allow", rule });
    const { verdicts, written, result } = await runUnder([allow("helper"), allow("helper/write_file(path=out/*)")]);
    expect(verdicts).toEqual({
      "main/0.write_file": "ask",
      "main/1.helper": "allowed",
      "main/1.helper/0.write_file": "allowed",
    });
    expect(written).toEqual(["out/helper"]);
    expect(result?.denied.map(({ callPath }) => callPath)).toEqual(["main/0.write_file"]);
  });

  test("of the manifest block what the run's own rules allow", async () => {
    const manifest = 'approval: { rules: [{ effect: block, rule: "helper/write_file" }] }';
    const { verdicts, written, error } = await runUnder([{ effect: "allow", rule: "*/*" }], manifest);
    expect(error).toBeUndefined();
    expect(verdicts["main/1.helper/0.write_file"]).toBe("blocked");
    expect(written).toEqual(["out/main"]);
  });

  test("hold under approve_all: what is blocked stays so", async () => {
    const { files: after } = await play({
      files,
      request: { input: "go" },
      approval: { mode: "approve_all", rules: [{ effect: "block", rule: "write_file(out/m*)" }] },
      model: ({ turn }) =>
        turn > 1
          ? "done"
          : { calls: ["main", "other"].map((name) => ({ tool: "write_file", args: { path: `out/${name}`, content: "x" } })) },
    });
    expect(Object.keys(after).filter((path) => path.startsWith("out/"))).toEqual(["out/other"]);
  });

  test("that cannot be read end a run before it begins", async () => {
    const { error, journal } = await runUnder([{ effect: "block", rule: "main/" }]);
    expect(error).toMatchObject({ diagnostics: [{ code: "approval-rule" }] });
    expect(journal).toEqual([]);
  });

  test("with an effect that is none, too", async () => {
    const { error } = await runUnder([{ effect: "forbid" as "block", rule: "main/write_file" }]);
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("must be `allow`, `ask` or `block`") });
  });
});
