import { expect, test } from "vitest";
import { tool, toolset } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { play, worker } from "./harness.ts";

interface Wanting {
  readonly main: string;
  readonly calls: readonly (readonly [tool: string, args: JsonObject])[];
  readonly tools?: Readonly<Record<string, unknown>>;
  /** Rules that allow. */
  readonly rules?: readonly string[];
}

/** Plays one turn in which `main` makes these calls and a person approves all. Returns their values, or errors. */
async function want({ main, calls, tools, rules = [] }: Wanting) {
  const { events, error, files } = await play({
    files: { "main.worker": worker(main), "out/a.txt": "a" },
    ...(tools ? { tools } : {}),
    approval: {
      mode: "prompt",
      approver: async () => ({ type: "approve" }),
      rules: rules.map((rule) => ({ effect: "allow", rule })),
    },
    model: ({ turn }) => (turn === 1 ? { calls: calls.map(([name, args]) => ({ tool: name, args })) } : "done"),
    request: { input: "go" },
  });
  expect(error).toBeUndefined();
  const results = events.flatMap((event) => (event.type === "tool-result" ? [event] : []));
  const values = results
    .toSorted((a, b) => a.callPath.localeCompare(b.callPath))
    .map(({ result }) => (result.ok ? result.value : `${result.error.type}: ${result.error.error}`));
  return { values, files };
}

const echo = { name: "echo", instructions: "Say it again." };

test("a created worker has no rule that its creator has not, nor looks that are allowed", async () => {
  const wish = (shell: JsonObject) =>
    ["worker_create", { ...echo, toolsets: { shell }, sandbox: { paths: { out: {} } } }] as const;
  const main = `
sandbox: { paths: { out: { root: ./out, mode: rw } } }
toolsets:
  dynamic_workers: {}
  shell:
    rules:
      - { pattern: make, writes: [out], approval_required: false }
      - { pattern: ls, approval_required: false }`;
  const make = { pattern: "make", writes: ["out"], approval_required: false };
  const calls = [
    wish({ rules: [{ ...make, writes: ["out/a"] }] }),
    wish({ looks: "allowed", rules: [make] }),
    wish({ rules: [make] }),
  ];
  const { values } = await want({ main, calls });
  expect(values).toEqual([
    expect.stringContaining("no rule of the creator is"),
    expect.stringContaining("`looks: allowed` is the creator's alone"),
    expect.objectContaining({ worker: "echo" }),
  ]);
});

test("a created worker has no name of a tool that was found by connecting", async () => {
  const search = tool({ name: "search", input: { type: "object" }, run: () => "found" });
  const { values, files } = await want({
    main: "toolsets: { dynamic_workers: {}, delegation: { allow_workers: ['*'] }, notes: { _prefix: my } }",
    tools: { notes: toolset({ name: "notes", connect: async () => ({ tools: [search] }) }) },
    rules: ["my_search"],
    calls: [
      ["worker_create", { ...echo, name: "my_search" }],
      ["worker_call", { worker: "my_search", input: "x" }],
      ["worker_create", { ...echo, name: "search" }],
    ],
  });
  expect(values).toEqual([
    expect.stringContaining("`my_search` is a tool of a connected toolset"),
    expect.stringMatching(/^unknown_tool/),
    expect.objectContaining({ worker: "search" }),
  ]);
  expect(Object.keys(files)).not.toContain("workers/generated/my_search/worker.worker");
});
