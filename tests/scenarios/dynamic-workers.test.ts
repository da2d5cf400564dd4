import { describe, expect, test } from "vitest";
import { type ApprovalRequest, compile, tool } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { MemoryHost } from "../../src/testing/memory-host.ts";
import { play, worker } from "./harness.ts";

type Call = readonly [tool: string, args: JsonObject];

interface Creating {
  readonly main?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The calls of `main`, turn by turn. */
  readonly turns: readonly (readonly Call[])[];
  /** The calls of created workers, in their first turn. */
  readonly made?: Readonly<Record<string, readonly Call[]>>;
  readonly rules?: readonly { readonly effect: "ask" | "block" | "allow"; readonly rule: string }[];
  readonly deny?: (request: ApprovalRequest) => boolean;
  readonly commands?: Readonly<Record<string, () => string>>;
  readonly tools?: Readonly<Record<string, unknown>>;
}

const toCalls = (calls: readonly Call[]) => ({ calls: calls.map(([tool, args]) => ({ tool, args })) });

/** Plays a run of `main`, in which a person approves what is asked, and looks at what it left behind. */
async function create({
  main = "toolsets: { dynamic_workers: {}, filesystem: {} }",
  files = {},
  turns,
  made = {},
  rules = [],
  deny,
  commands = {},
  tools,
}: Creating) {
  const asked: ApprovalRequest[] = [];
  const approver = async (request: ApprovalRequest) => {
    asked.push(request);
    return deny?.(request) ? ({ type: "deny" } as const) : ({ type: "approve" } as const);
  };
  let host: MemoryHost | undefined;
  const played = await play({
    files: { "main.worker": worker(main), "notes/a.md": "first", ...files },
    machine: { commands },
    ...(tools ? { tools } : {}),
    approval: (machine) => {
      host = machine;
      return { mode: "prompt", approver, rules };
    },
    model: ({ worker: name, turn }) => {
      const calls = name === "main" ? turns[turn - 1] : turn === 1 ? made[name] : undefined;
      return calls ? toCalls(calls) : `${name} is done`;
    },
    request: { input: "go" },
  });
  expect(played.error).toBeUndefined();
  const results = played.events.flatMap((event) => (event.type === "tool-result" ? [event] : []));
  const values = Object.fromEntries(
    results.map(({ callPath, result }) => [
      callPath.replace(/^main\//, ""),
      result.ok ? result.value : `${result.error.type}: ${result.error.error}`,
    ]),
  );
  return { ...played, asked, values, host: host as MemoryHost };
}

const echo = { name: "echo", instructions: "Say it again." };

describe("a worker that another one creates", () => {
  test("is asked for whole, saved, and called by its name in the next turn", async () => {
    const { asked, values, files, model } = await create({
      turns: [[["worker_create", { ...echo, toolsets: { filesystem: {} }, sandbox: {} }]], [["echo", { input: "hello" }]]],
      made: { echo: [["read_file", { path: "notes/a.md" }]] },
    });
    const file = "workers/generated/echo/worker.worker";
    expect(asked.map(({ tool, description, preview }) => [tool, description, preview?.type])).toEqual([
      ["worker_create", "Create the worker echo", "new-file"],
      ["echo", 'Call the worker echo with {"input":"hello"}', "worker"],
    ]);
    expect(asked[0]?.preview).toMatchObject({ path: file, content: files[file] });
    expect(files[file]).toBe("---\ndescription: Say it again.\nsandbox: {}\ntoolsets:\n  filesystem: {}\n---\nSay it again.\n");
    expect(values).toMatchObject({ "1.echo": "echo is done", "1.echo/0.read_file": { content: "first" } });
    expect(model.requests.map(({ tools }) => tools.some(({ name }) => name === "echo"))).toEqual([
      false,
      true,
      false,
      false,
      true,
    ]);
  });

  test("has nothing that was not named", async () => {
    const { values, model } = await create({
      turns: [
        [["worker_create", echo]],
        [["echo", { input: "hello", attachments: ["notes/a.md"] }]],
        [["echo", { input: "hello" }]],
      ],
    });
    expect(values["1.echo"]).toMatch(/^too_many_attachments/);
    const [request] = model.requests.filter(({ system }) => system[0] === "Say it again.");
    expect(request?.tools).toEqual([]);
  });

  test("has no folder for commands in which its creator could not write", async () => {
    const rules = "shell: { rules: [{ pattern: ls, approval_required: false }] }";
    const wish: Call = ["worker_create", { ...echo, toolsets: { shell: {} } }];
    const turns = [[wish], [["echo", { input: "x" }] as const]];
    const made = { echo: [["shell", { command: "ls" }] as const] };
    const confined = await create({ main: `toolsets: { dynamic_workers: {}, ${rules} }`, turns: [[wish]] });
    expect(confined.values["0.worker_create"]).toContain(
      "`toolsets.shell`: its commands run in scopes; to be had: with a scope of the creator under `sandbox`",
    );
    const main = `sandbox: { paths: {} }\ntoolsets: { dynamic_workers: {}, ${rules} }`;
    const { values } = await create({ main, turns, made, commands: { ls: () => "nothing here" } });
    expect(values["1.echo/0.shell"]).toMatchObject({ stdout: "nothing here" });
  });

  test("never has more than its creator, which is told what can be had", async () => {
    const { asked, values } = await create({
      main: `
sandbox: { paths: { notes: { root: ./notes, mode: ro } } }
toolsets: { dynamic_workers: {}, filesystem: {} }
limits: { turns: 9 }`,
      turns: [
        [
          [
            "worker_create",
            {
              ...echo,
              model: "other:model",
              toolsets: {
                shell: { rules: [{ pattern: "rm" }] },
                filesystem: { _approval_config: { write_file: { pre_approved: true } } },
              },
              sandbox: { paths: { notes: { mode: "rw" }, secret: {} }, network_enabled: true },
              limits: { turns: 99 },
              attachment_policy: { max_attachments: 40 },
              server_side_tools: [{ tool_type: "web_search" }],
            },
          ],
        ],
      ],
    });
    expect(asked).toEqual([]);
    expect(String(values["0.worker_create"]).split("\n")).toEqual([
      "invalid_arguments: the worker `echo` cannot be created:",
      "`sandbox.network_enabled`: the creator's commands have no network; leave it out",
      "`sandbox.paths.notes` goes beyond the creator's; to be had: `notes: { mode: ro }`",
      "`sandbox.paths.secret` is not the creator's; to be had: `notes: { mode: ro }`",
      "`model`: `other:model` is not a model of the creator; to be had: `test:model`",
      "`attachment_policy.max_attachments`: 40 is too much; at most 4",
      "`server_side_tools`: `web_search` is not the creator's; there is none to be had",
      "`limits.turns`: 99 is too much; at most 9",
      "`toolsets`: `shell` is not the creator's; to be had: `dynamic_workers`, `filesystem`",
      "`toolsets.filesystem._approval_config`: the creator's calls of `write_file` are not pre-approved; leave it out",
    ]);
  });

  test("has the scopes that lie in its own, since rules name them", async () => {
    const { values } = await create({
      main: `
sandbox: { paths: { data: { root: ./data, mode: rw }, secret: { root: ./data/secret, mode: rw } } }
toolsets: { dynamic_workers: {}, filesystem: {} }`,
      files: { "data/secret/x.md": "hidden" },
      rules: [{ effect: "block", rule: "read_file(secret/*)" }],
      turns: [
        [
          ["worker_create", { ...echo, name: "wide", sandbox: { paths: { data: {} } } }],
          ["worker_create", { ...echo, toolsets: { filesystem: {} }, sandbox: { paths: { data: {}, secret: {} } } }],
        ],
        [["echo", { input: "x" }]],
      ],
      made: { echo: [["read_file", { path: "data/secret/x.md" }]] },
    });
    expect(values["0.worker_create"]).toContain(
      "`sandbox.paths.data` holds `secret`, which has rules of its own; to be had: both",
    );
    expect(values["2.echo/0.read_file"]).toMatch(/^blocked: .*the rule `read_file\(secret\/\*\)`/);
  });

  test.each([
    ["pattern", { type: "string", pattern: "^(a+)+$" }],
    ["patternProperties", { type: "object", patternProperties: { "^(a+)+$": {} } }],
    ["$ref", { anyOf: [{ $ref: "#" }, { type: "array", items: { $ref: "#" } }] }],
  ])("has no schema whose check could take forever: %s", async (keyword, schema) => {
    const input = { type: "object", properties: { pattern: { type: "string" }, list: { type: "array", items: schema } } };
    const { values } = await create({ turns: [[["worker_create", { ...echo, input }]]] });
    expect(values["0.worker_create"]).toContain(`\`input\` of a worker that was made in a run takes no \`${keyword}\``);
  });

  test("keeps the settings of its creator that can be bounds", async () => {
    const { files } = await create({
      main: `
model_settings: { reasoning: low, provider_options: { test: { store: false } } }
toolsets: { dynamic_workers: {}, filesystem: {} }`,
      turns: [[["worker_create", { ...echo, model_settings: { temperature: 1 } }]]],
    });
    const file = files["workers/generated/echo/worker.worker"];
    expect(file).toContain("  reasoning: low\n  provider_options:\n    test:\n      store: false\n  temperature: 1\n");
  });

  test("is bound by the rules for its creator, and no rule for the run is proposed for it", async () => {
    const write: Call = ["write_file", { path: "notes/b.md", content: "b" }];
    const { asked, values } = await create({
      turns: [[["worker_create", { ...echo, toolsets: { filesystem: {} }, sandbox: {} }]], [["echo", { input: "go" }]]],
      made: { echo: [write, ["write_file", { path: "c.md", content: "c" }]] },
      rules: [
        { effect: "block", rule: "main/write_file(notes/*)" },
        { effect: "allow", rule: "echo/write_file" },
      ],
    });
    expect(values["1.echo/0.write_file"]).toMatch(/^blocked/);
    expect(asked.map(({ tool, rules }) => [tool, rules])).toEqual([
      ["worker_create", undefined],
      ["echo", expect.any(Array)],
      ["write_file", undefined],
    ]);
  });

  test("can create others, with less than it has", async () => {
    const { values, files } = await create({
      turns: [[["worker_create", { ...echo, toolsets: { dynamic_workers: {} } }]], [["echo", { input: "go" }]]],
      made: {
        echo: [
          ["worker_create", { name: "inner", instructions: "Inner.", toolsets: { dynamic_workers: {} } }],
          ["worker_create", { name: "wider", instructions: "Wider.", toolsets: { filesystem: {} }, sandbox: {} }],
        ],
      },
    });
    expect(files["workers/generated/inner/worker.worker"]).toContain("dynamic_workers: {}");
    expect(values["1.echo/1.worker_create"]).toContain(
      "`toolsets`: `filesystem` is not the creator's; to be had: `dynamic_workers`",
    );
  });
});

describe("`worker_call` of a worker that is created in the same turn", () => {
  const main = "toolsets: { dynamic_workers: {}, delegation: { allow_workers: [echo, 'e*'] } }";

  test("waits for it, and then calls it", async () => {
    const { values } = await create({
      main,
      turns: [
        [
          ["worker_create", echo],
          ["worker_call", { worker: "echo", input: "one" }],
          ["worker_call", { worker: "echo", input: "two" }],
        ],
      ],
    });
    expect(values).toMatchObject({ "1.worker_call": "echo is done", "2.worker_call": "echo is done" });
  });

  test("fails where the worker is denied, or stands behind the call", async () => {
    const denied = await create({
      main,
      turns: [
        [
          ["worker_create", echo],
          ["worker_call", { worker: "echo", input: "one" }],
        ],
      ],
      deny: ({ tool }) => tool === "worker_create",
    });
    expect(denied.values["1.worker_call"]).toMatch(/^unknown_tool/);
    const early = await create({
      main,
      turns: [
        [
          ["worker_call", { worker: "echo", input: "one" }],
          ["worker_create", echo],
        ],
      ],
    });
    expect(early.values["0.worker_call"]).toMatch(/^unknown_tool/);
  });

  test("calls none that `allow_workers` leaves out", async () => {
    const { values } = await create({
      main,
      turns: [
        [
          ["worker_create", { ...echo, name: "other" }],
          ["worker_call", { worker: "other", input: "one" }],
        ],
      ],
    });
    expect(values["1.worker_call"]).toMatch(/^unknown_tool/);
  });
});

describe("names", () => {
  test.each([
    ["main", "is a worker of this program"],
    ["filesystem", "is a built-in toolset"],
    ["read_file", "is a tool of a worker of this program"],
    ["read_result", "is a tool of llm-do itself"],
    ["../evil", "do not fit"],
  ])("`%s` cannot be had", async (name, why) => {
    const { asked, values, files } = await create({ turns: [[["worker_create", { ...echo, name }]]] });
    expect(Object.values(values)[0]).toContain(why);
    expect(asked).toEqual([]);
    expect(Object.keys(files)).toEqual(["main.worker", "notes/a.md"]);
  });

  test("a worker is replaced by force alone, and never where it is locked", async () => {
    const path = "workers/generated/echo/worker.worker";
    const again = { ...echo, instructions: "Another." };
    const { values, files, asked } = await create({
      files: { [path]: worker("description: x"), "workers/generated/held/worker.worker": worker("locked: true") },
      turns: [
        [
          ["worker_create", again],
          ["worker_create", { ...again, force: true }],
          ["worker_create", { ...again, name: "held", force: true }],
        ],
      ],
    });
    expect(values["0.worker_create"]).toContain("there is a worker `echo` already");
    expect(values["2.worker_create"]).toMatch(/^blocked: .* locked/);
    expect(asked.map(({ description }) => description)).toEqual(["Replace the worker echo"]);
    expect(files[path]).toContain("Another.");
  });
});

describe("the next run", () => {
  const wish = { ...echo, toolsets: { filesystem: {} }, sandbox: {} };
  const main = worker("toolsets: { echo: {} }");
  const path = "/program/workers/generated/echo/worker.worker";

  async function made(files: Readonly<Record<string, string>> = {}) {
    const { host } = await create({ files, turns: [[["worker_create", wish]]] });
    await host.files.writeAtomically("/program/main.worker", main);
    const next = async () => {
      const { outline, diagnostics } = await compile({
        target: "/program",
        host,
        model: "test:model",
        trust: true,
        providers: [{ name: "test", description: "", keyVariables: [], create: async () => Promise.reject(new Error()) }],
      });
      const echoed = outline?.workers.find(({ name }) => name === "echo");
      return { toolsets: echoed?.toolsets.map(({ reference }) => reference), codes: diagnostics.map(({ code }) => code) };
    };
    return { host, next };
  }

  test("finds the worker with what its record says", async () => {
    const { next } = await made();
    expect(await next()).toEqual({ toolsets: ["filesystem"], codes: [] });
  });

  test("gives a file that was changed, or copied, nothing", async () => {
    const { host, next } = await made();
    await host.files.writeAtomically(path, `${await host.files.readText(path)}More.\n`);
    expect(await next()).toEqual({ toolsets: [], codes: ["generated-capability", "generated-capability"] });
  });

  test("takes what it has away where the program around it lets it do more", async () => {
    const { host, next } = await made({ "llm-do.yaml": "approval: { rules: [{ effect: ask, rule: read_file }] }" });
    expect((await next()).toolsets).toEqual(["filesystem"]);
    await host.files.remove("/program/llm-do.yaml");
    expect(await next()).toEqual({ toolsets: [], codes: ["generated-capability", "generated-capability"] });
  });
});

describe("rules of a run, at a worker that a created worker creates, for a call of code", () => {
  const input = { type: "object", properties: { text: { type: "string" } } };
  const tools = {
    note: tool({ description: "notes", input, run: () => "noted" }),
    wrap: tool({ description: "wraps", input, calls: ["note"], run: (_, runtime) => runtime.call("note", { text: "x" }) }),
  };
  const step = (name: string, toolsets: JsonObject): Call => ["worker_create", { name, instructions: "Go on.", toolsets }];
  const main = "toolsets: { dynamic_workers: {}, wrap: {}, delegation: { allow_workers: ['step_*'] } }";
  const turns = [
    [step("step_a", { wrap: {}, dynamic_workers: {}, delegation: { allow_workers: ["step_b"] } })],
    [["worker_call", { worker: "step_a", input: "x" }] as const],
  ];
  const made = {
    step_a: [step("step_b", { wrap: {} }), ["worker_call", { worker: "step_b", input: "x" }] as const],
    step_b: [["wrap", {}] as const],
  };
  const playWith = (rules: Creating["rules"] = []) => create({ main, tools, turns, made, rules });

  test.each([
    ["allow", "main/*", ["wrap", "note"]],
    ["allow", "step_*/*", ["wrap", "note"]],
    ["allow", "*", []],
    ["ask", "main/note", ["wrap", "note"]],
  ] as const)("%s %s", async (effect, rule, expected) => {
    const { asked } = await playWith([{ effect, rule }]);
    expect(asked.filter(({ worker }) => worker === "step_b").map(({ tool: name }) => name)).toEqual(expected);
  });

  test.each(["main/note", "step_a/note", "step_b/note"])("block %s", async (rule) => {
    const { values } = await playWith([{ effect: "block", rule }]);
    const blocked = Object.entries(values).filter(([, value]) => String(value).includes(`the rule \`${rule}\``));
    expect(blocked.map(([path]) => path.split("/").at(-1))).toContain("0.note");
  });
});
