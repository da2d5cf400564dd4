import { describe, expect, test } from "vitest";
import { z } from "zod";
import { noScopes } from "../../src/host/scopes/no-scopes.ts";
import { createTestRuntime, memoryHost, toolsetConformance } from "../../src/testing/index.ts";
import { createBuiltInToolsets } from "../../src/toolsets/built-ins.ts";
import {
  approve,
  blocked,
  filter,
  needsApproval,
  preApproved,
  prefix,
  rename,
  type Toolset,
  type ToolsetOptions,
  tool,
  toolset,
} from "../../src/toolsets/index.ts";
import { play, worker } from "../scenarios/harness.ts";

const notes = toolset({
  name: "notes",
  tools: () => [
    tool({
      name: "read_note",
      input: z.object({ path: z.string() }),
      sideEffect: false,
      run: async ({ path }, { scopes }) => new TextDecoder().decode((await scopes.read(path)).bytes),
    }),
    tool({ name: "count", input: z.object({ words: z.array(z.string()) }), run: ({ words }) => words.length }),
  ],
  targets: ({ tool: name, args }) => (name === "read_note" ? [{ read: String(args["path"]) }] : []),
  needsApproval: ({ tool: name }) => (name === "read_note" ? preApproved("it only reads") : needsApproval("it counts")),
  describeCall: ({ tool: name }) => `call ${name}`,
});
const calls = [
  { tool: "read_note", args: { path: "a.md" } },
  { tool: "count", args: { words: ["a", "b"] } },
];
const files = { "a.md": "Hello." };
const emptyScope = { worker: "w", readable: [], writable: [], networkEnabled: false };

describe("toolsets keep their contract", () => {
  const host = memoryHost({ commands: { greet: ([, name]) => `Hello, ${name}.` } });
  const builtIns = createBuiltInToolsets(host);
  const filesystem = builtIns.get("filesystem") as Toolset;
  const connecting = toolset({ name: "server", connect: async () => ({ tools: notes.tools({}, emptyScope) }) });
  const ways = {
    notes: { toolset: notes, calls },
    "prefix(notes)": { toolset: prefix(notes, "my"), calls: calls.map((call) => ({ ...call, tool: `my_${call.tool}` })) },
    "approve(notes)": { toolset: approve(notes, () => needsApproval("always", "rule")), calls },
    filesystem: {
      toolset: filesystem,
      config: { max_chars: 100 },
      calls: [
        { tool: "read_file", args: { path: "a.md" } },
        { tool: "write_file", args: { path: "b.md", content: "x" } },
        { tool: "edit_file", args: { path: "a.md", old_text: "Hello", new_text: "Bye" } },
        { tool: "list_files", args: {} },
      ],
    },
    shell: {
      toolset: builtIns.get("shell") as Toolset,
      config: { rules: [{ pattern: "greet" }] },
      calls: [{ tool: "shell", args: { command: "greet Ada" } }],
    },
    connecting: { toolset: connecting, calls },
  };
  /** Built-in ones whose tools are those of a run: scenarios play them. */
  const playedInRuns = new Set(["mcp", "delegation", "dynamic_workers", "skills", "program"]);
  test("each built-in toolset has a row here, or is played in runs", () => {
    expect([...builtIns.keys()].filter((name) => !(name in ways || playedInRuns.has(name)))).toEqual([]);
  });
  for (const [name, way] of Object.entries(ways))
    for (const { title, check } of toolsetConformance({ ...way, files })) test(`${name} ${title}`, check);
});

describe("the suite refuses", () => {
  let counter = 0;
  const echo = tool({ name: "echo", input: z.object({}), approval: "pre-approved", run: () => "ok" });
  const broken: Record<string, readonly [Partial<ToolsetOptions<Record<string, never>>>, string]> = {
    "two tools of one name": [{ tools: () => [echo, echo] }, "two tools share a name: echo, echo"],
    "names that models cannot call": [{ tools: () => [{ ...echo, name: "a b" }, echo] }, "`a b` is no name for a tool"],
    "tools that change": [{ tools: () => (counter++ % 2 ? [echo] : [echo, { ...echo, name: "more" }]) }, "the second time"],
    "a description that changes": [{ describeCall: () => `call ${counter++}` }, "`describeCall` answers differently"],
    "several lines for one": [{ describeCall: () => "a\nb" }, "`describeCall` has to give one line"],
    "an async verdict": [{ needsApproval: async () => preApproved() } as never, "`needsApproval` must not be async"],
    "another verdict than there is": [{ needsApproval: () => ({ type: "maybe" }) } as never, "`needsApproval` gives no verdict"],
    "a preparation that finds something else": [
      { prepare: async ({ args }) => ({ canonicalArgs: args, targets: [], facts: { counter: counter++ } }) },
      "`prepare` finds something else",
    ],
    "hooks that write": [
      {
        prepare: async ({ args }, { scopes }) => {
          await scopes.append("new.md", new TextEncoder().encode("x"));
          return { canonicalArgs: args, targets: [], facts: {} };
        },
      },
      "the hooks changed files",
    ],
    "calls that fail": [
      { tools: () => [{ ...echo, execute: () => Promise.reject(new Error("no")) }] },
      "the approved call failed",
    ],
    "calls that are blocked": [{ needsApproval: () => blocked("never") }, "the approved call failed: blocked"],
  };
  test.each(Object.entries(broken))("%s", async (_, [options, problem]) => {
    const made = toolset({ name: "broken", tools: () => [echo], ...options });
    const problems = await Promise.all(
      toolsetConformance({ toolset: made, calls: [{ tool: "echo", args: {} }] }).map(({ check }) =>
        check().then(
          () => "",
          (thrown: unknown) => String(thrown),
        ),
      ),
    );
    expect(problems.join("\n")).toContain(problem);
  });
});

describe("combinators", () => {
  const namesOf = (one: Toolset) => one.tools({}, emptyScope).map(({ name }) => name);
  const verdictOn = (one: Toolset, name: string) => {
    one.tools({}, emptyScope);
    const preparation = { canonicalArgs: {}, targets: [], facts: {} };
    return one.needsApproval?.({ tool: name, args: {}, config: {}, preparation });
  };

  test("give tools other names, which the toolset's own hooks do not see", () => {
    expect(namesOf(prefix(notes, "my"))).toEqual(["my_read_note", "my_count"]);
    expect(namesOf(rename(notes, { count: "tally" }))).toEqual(["read_note", "tally"]);
    expect(namesOf(filter(notes, ["read_*"]))).toEqual(["read_note"]);
    expect(
      namesOf(
        prefix(
          filter(rename(notes, { count: "tally" }), (name) => name !== "read_note"),
          "x",
        ),
      ),
    ).toEqual(["x_tally"]);
    expect(verdictOn(prefix(rename(notes, { read_note: "look" }), "my"), "my_look")).toEqual(preApproved("it only reads"));
    const call = { tool: "my_read_note", args: { path: "a.md" }, config: {} };
    const renamed = prefix(notes, "my");
    namesOf(renamed);
    expect(renamed.targets?.(call, { scopes: noScopes })).toEqual([{ read: "a.md" }]);
  });

  test("refuse names that meet, and what is no toolset", () => {
    expect(() => namesOf(rename(notes, { count: "read_note" }))).toThrow(
      "`read_note` and `count` of the toolset `notes` would both be",
    );
    for (const combine of [(one: Toolset) => prefix(one, "x"), (one: Toolset) => approve(one, () => undefined)])
      expect(() => combine({ name: "gated" } as never)).toThrow("only toolsets can be combined");
  });

  test("`approve` asks or blocks more, and never less", () => {
    const plain = toolset({
      name: "plain",
      tools: () => [
        tool({ name: "free", input: z.object({}), approval: "pre-approved", run: () => 1 }),
        tool({ name: "other", input: z.object({}), run: () => 1 }),
      ],
    });
    const granting = approve(plain, () => preApproved("a grant"));
    expect(verdictOn(granting, "free")).toMatchObject({ type: "pre-approved" });
    expect(verdictOn(granting, "other")).toEqual(needsApproval());
    expect(
      verdictOn(
        approve(notes, () => preApproved()),
        "count",
      ),
    ).toEqual(needsApproval("it counts"));
    expect(
      verdictOn(
        approve(notes, () => undefined),
        "read_note",
      ),
    ).toEqual(preApproved("it only reads"));
    expect(
      verdictOn(
        approve(plain, () => needsApproval("mine")),
        "free",
      ),
    ).toEqual(needsApproval("mine"));
    const stacked = approve(
      approve(notes, () => blocked("no")),
      () => preApproved(),
    );
    expect(verdictOn(stacked, "read_note")).toEqual(blocked("no"));
  });

  test("pass the gate of a run like any toolset", async () => {
    const careful = approve(prefix(notes, "my"), ({ args }) => (args["path"] === "b.md" ? blocked("not b") : undefined));
    const { events, error } = await play({
      files: { "main.worker": worker("toolsets: { careful: {} }"), "a.md": "Hello.", "b.md": "Secret." },
      tools: { careful },
      model: ({ turn }) =>
        turn === 1 ? { calls: ["a.md", "b.md"].map((path) => ({ tool: "my_read_note", args: { path } })) } : "done",
      request: { input: "go" },
    });
    expect(error).toBeUndefined();
    const results = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
    expect(results).toContainEqual({ ok: true, value: "Hello." });
    expect(results).toContainEqual({ ok: false, error: expect.objectContaining({ type: "blocked" }) });
  });
});

test("a test runtime is all that a tool sees, and tells what the tool did", async () => {
  const review = tool({
    name: "review",
    input: z.object({ path: z.string() }),
    calls: ["reader"],
    run: async ({ path }, runtime) => {
      runtime.progress(`reviewing ${path}`);
      const text = new TextDecoder().decode((await runtime.scopes.read(path)).bytes);
      const said = await runtime.call("reader", { input: text }, { extraContext: ["be brief"] });
      await runtime.scopes.write("out.md", new TextEncoder().encode(String(said)), { expect: undefined });
      return runtime.attachments.map(({ name, bytes }) => `${name} ${bytes}`);
    },
  });
  const runtime = await createTestRuntime({
    files: { "a.md": "Hello." },
    attachments: { "deck.txt": "slides" },
    calls: { reader: (input) => `read ${JSON.stringify(input)}` },
  });
  expect(await review.execute({ path: "a.md" }, runtime)).toEqual(["deck.txt 6"]);
  expect(runtime.told).toEqual(["reviewing a.md"]);
  expect(runtime.made).toEqual([{ name: "reader", input: { input: "Hello." }, options: { extraContext: ["be brief"] } }]);
  expect(runtime.files()).toEqual({ "a.md": "Hello.", "out.md": 'read {"input":"Hello."}' });
  await expect(runtime.call("nobody")).rejects.toThrow("`calls` of the test runtime has no `nobody`");
  runtime.abort(new Error("stop"));
  await expect(runtime.call("reader")).rejects.toThrow("stop");
  await runtime.close();
});
