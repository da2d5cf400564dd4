import { expect, test } from "vitest";
import { tool, toolset } from "../../src/index.ts";
import type { Outline, OutlinedToolset } from "../../src/protocol/outline.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

const input = { type: "object" };
const modules = {
  "tools.ts": {
    free: tool({ input, approval: "pre-approved", description: "Changes nothing.", run: () => 1 }),
    careful: tool({ input, approval: "ask", run: () => 1 }),
    unstated: tool({ input, run: () => 1 }),
    review: tool({ input, calls: ["deep", "again"], run: () => 1 }),
    again: tool({ input, calls: ["review", "again"], run: () => 1 }),
    smart: toolset({
      name: "smart",
      tools: () => [tool({ name: "go", input, run: () => 1 })],
      needsApproval: () => ({ type: "pre-approved" }),
    }),
  },
};
const files = {
  "main.worker": worker(`
toolsets:
  free: {}
  careful: {}
  unstated: {}
  approved: { _use: unstated, _prefix: my, _approval_config: { unstated: { pre_approved: true } } }
  denied: { _use: free, _prefix: no, _approval_config: { "*": { pre_approved: false } } }
  smart: {}
  smarter: { _use: smart, _prefix: er, _approval_config: { go: { pre_approved: true } } }
  review: {}
  helper: {}
sandbox: { paths: { notes: { root: ./notes } } }
limits: { turns: 3 }`),
  "helper.worker": worker("description: helps\nmodel: openai:h\ntoolsets: { filesystem: {}, main: {} }"),
  "deep.worker": worker('description: deep\nsandbox: { paths: { home: { root: "~", mode: rw, suffixes: [.md] } } }'),
  "notes/a.md": "a",
  "tools.ts": Object.keys(modules["tools.ts"])
    .map((name) => `export const ${name} = 1;\n`)
    .join(""),
  "llm-do.yaml": "name: decks\nlimits: { tokens: 9 }\napproval: { mode: reject_all }",
};

async function outlineOf(request: object = {}): Promise<Outline> {
  const { outline, shown } = await compileOn(createMachine({ files, modules }), request);
  expect(shown.filter((line) => line.endsWith("error"))).toEqual([]);
  if (!outline) throw new Error("no outline");
  return outline;
}

function plansOf(toolsets: readonly OutlinedToolset[]): Record<string, string> {
  return Object.fromEntries(toolsets.flatMap(({ tools }) => tools.map(({ name, plan }) => [name, plan.verdict])));
}

test("is plain data", async () => {
  const outline = await outlineOf({ trust: true });
  expect(JSON.parse(JSON.stringify(outline))).toEqual(outline);
  expect(outline).toMatchObject({
    v: 1,
    name: "decks",
    root: "/work",
    trusted: true,
    entry: { kind: "worker", id: "main" },
    limits: { tokens: 9 },
    approval: "reject_all",
  });
  expect(outline.workers.map(({ id }) => id)).toEqual(["main", "deep", "helper"]);
});

test("says of each tool what will happen to its calls, and why", async () => {
  const { workers } = await outlineOf({ trust: true });
  expect(plansOf(workers[0]?.toolsets ?? [])).toEqual({
    free: "allowed",
    careful: "asks",
    unstated: "asks",
    my_unstated: "allowed",
    no_free: "asks",
    go: "depends",
    er_go: "depends",
    review: "asks",
    helper: "asks",
  });
  const [free] = workers[0]?.toolsets ?? [];
  expect(free).toEqual({
    reference: "free",
    kind: "code",
    file: "tools.ts",
    tools: [{ name: "free", description: "Changes nothing.", plan: { verdict: "allowed", why: "its author pre-approves it" } }],
  });
});

test("gives each worker its model and where that came from, its scopes and its limits", async () => {
  const { workers } = await outlineOf({ trust: true });
  expect(workers.map(({ model }) => model)).toEqual([
    { id: "anthropic:m", source: "--model", namedBy: "user" },
    { id: "anthropic:m", source: "--model", namedBy: "user" },
    { id: "openai:h", source: "`model` of helper.worker", namedBy: "program" },
  ]);
  expect(workers[0]).toMatchObject({ file: "main.worker", limits: { turns: 3 } });
  expect(workers[1]?.scopes).toEqual([
    { name: "home", root: "/home/user", mode: "rw", outside: true, suffixes: [".md"], writeApproval: true, readApproval: false },
  ]);
});

test("tells what a called worker can do that its caller cannot", async () => {
  const { workers } = await outlineOf({ trust: true });
  const helper = workers[0]?.toolsets.find(({ reference }) => reference === "helper");
  expect(helper?.beyond).toEqual(expect.arrayContaining(["write .", "send to openai:h"]));
  expect(helper?.beyond).not.toContain("read notes");
});

test("has a ceiling of all that can be reached, through code too, and in circles", async () => {
  const { ceiling } = await outlineOf({ trust: true });
  expect(ceiling).toMatchObject({
    workers: ["deep", "helper", "main"],
    models: ["anthropic:m", "openai:h"],
    reads: [".", "notes"],
    writes: ["."],
    code: ["tools.ts"],
    unverified: [],
  });
});

test("is there without trust, marks what is not verified, and runs nothing", async () => {
  const host = createMachine({ files });
  const { outline, program } = await compileOn({ ...host, importModule: () => Promise.reject(new Error("imported")) });
  expect(program).toBeUndefined();
  expect(outline?.trusted).toBe(false);
  expect(outline?.workers.map(({ id }) => id)).toEqual(["main", "helper"]);
  const kinds = outline?.workers[0]?.toolsets.map(({ reference, kind }) => `${reference} ${kind}`);
  expect(kinds).toContain("review unverified");
  expect(kinds).toContain("helper worker");
  expect(outline?.ceiling.unverified).toContain("approved");
});

test("has a digest that holds for an edit, and not for more power", async () => {
  const digestOf = async (change: Record<string, string>) => {
    const host = createMachine({ files: { ...files, ...change }, modules });
    return (await compileOn(host, { trust: true })).outline?.ceilingDigest;
  };
  const now = await digestOf({});
  expect(await digestOf({ "deep.worker": `${files["deep.worker"]}More.` })).toBe(now);
  expect(await digestOf({ "helper.worker": files["helper.worker"].replace("openai:h", "openai:i") })).not.toBe(now);
  expect(await digestOf({ "main.worker": files["main.worker"].replace("root: ./notes", "root: .") })).not.toBe(now);
});

test("of a code entry names its file, and all that its program holds", async () => {
  const withEntry = { ...files, "tools.ts": `${files["tools.ts"]}export const start = 1;\n` };
  const host = createMachine({ files: withEntry, modules: { "tools.ts": { ...modules["tools.ts"], start: () => 1 } } });
  const { outline } = await compileOn(host, { trust: true, entry: "tools.ts:start" });
  expect(outline?.entry).toMatchObject({ kind: "code", name: "start", file: "tools.ts", scopes: [{ name: ".", mode: "rw" }] });
  expect(outline?.ceiling.workers).toEqual(["deep", "helper", "main"]);
});

test("names the program's folder first among the scopes, wherever it is declared", async () => {
  const paths = "{ out: { root: ./out, mode: rw }, project: { root: . }, notes: { root: ./notes } }";
  const host = createMachine({ files: { "main.worker": worker(`sandbox: { paths: ${paths} }`), "notes/a.md": "" } });
  const { program } = await compileOn(host);
  expect(program?.workers.get("main")?.scopes.map(({ name }) => name)).toEqual(["project", "out", "notes"]);
});

test("of a code entry holds its own scopes, with and without trust", async () => {
  const entry = {
    "tools.ts": "export const start = 1;\n",
    "llm-do.yaml": 'sandbox: { paths: { out: { root: ../out, mode: rw }, notes: { root: "~" } } }',
    "/home/user/a.md": "a",
  };
  for (const trust of [true, false]) {
    const host = createMachine({ files: entry, modules: { "tools.ts": { start: () => 1 } } });
    const { outline } = await compileOn(host, { trust, entry: "tools.ts:start" });
    expect(outline?.ceiling).toMatchObject({ workers: [], reads: ["/home/user", "/out"], writes: ["/out"], code: ["tools.ts"] });
    expect(outline?.entry).toMatchObject({ scopes: [{ name: "out", outside: true }, { name: "notes" }] });
  }
});

test("has a digest of the program's own that counts the script which plays its model, wherever the program lies", async () => {
  const digestIn = async (folder: string, script: string, request: object = {}) => {
    const source = worker("model: scripted:play.yaml");
    const host = createMachine({ files: { [`${folder}/main.worker`]: source, [`${folder}/play.yaml`]: script } });
    return (await compileOn(host, { target: folder, ...request })).program;
  };
  const program = await digestIn("here", "- reply: a");
  expect(program?.files).toContain("/work/here/play.yaml");
  expect((await digestIn("there", "- reply: a"))?.digest).toBe(program?.digest);
  expect((await digestIn("here", "- reply: b"))?.digest).not.toBe(program?.digest);
  const ofTheUser = await digestIn("here", "- reply: a", { set: ["model=scripted:here/play.yaml"] });
  expect(ofTheUser?.files).not.toContain("/work/here/play.yaml");
});

test("is not there where there are mistakes", async () => {
  const host = createMachine({ files: { "main.worker": worker("toolsets: { nothing: {} }") } });
  expect((await compileOn(host)).outline).toBeUndefined();
});
