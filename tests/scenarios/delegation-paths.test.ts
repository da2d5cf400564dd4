import { expect, test } from "vitest";
import { play, worker } from "./harness.ts";

const says = (text: string) => worker(`description: Says ${text}.`, `You say ${text}.`);

const files = {
  "package.json": '{ "dependencies": { "acme": "1" } }',
  "node_modules/acme/package.json": '{ "name": "acme", "version": "1.0.0" }',
  "node_modules/acme/workers/x.worker": says("x of acme"),
  "node_modules/acme/workers/deep/z.worker": says("z of acme"),
  "node_modules/acme/one.worker": worker(
    "description: One.\ntoolsets: { delegation: { allow_workers: [./workers/x.worker] } }",
    "One.",
  ),
  "node_modules/other/package.json": '{ "name": "other", "version": "1.0.0" }',
  "node_modules/other/w.worker": says("w of other"),
  "sub/y.worker": says("y"),
  "sub/deep/q.worker": says("q"),
  "near.worker": says("near"),
};

/** Plays one call of `worker_call` by `main`. Gives the names that it can call, and the instructions of the worker that answered. */
async function callBy(delegation: string, name: string | undefined, more: Readonly<Record<string, string>> = {}) {
  const { error, model, events } = await play({
    files: { ...files, ...more, "main.worker": worker(`toolsets: { delegation: { ${delegation} } }`) },
    model: ({ worker: running, turn, system }) => {
      if (running !== "main") return `answered as ${system}`;
      const args = { ...(name === undefined ? {} : { worker: name }), input: "go" };
      return turn === 1 ? { calls: [{ tool: "worker_call", args }] } : "done";
    },
    approval: { mode: "approve_all" },
    request: { input: "go" },
  });
  const properties = model.requests[0]?.tools[0]?.inputSchema["properties"] as { worker?: { enum?: string[] } } | undefined;
  const results = events.flatMap((event) => (event.type === "tool-result" && event.depth === 0 ? [event.result] : []));
  return { message: error instanceof Error ? error.message : undefined, names: properties?.worker?.enum, results };
}

test.each<[string, string, string[], string, string]>([
  ["a worker of a package", "allow_workers: ['acme:workers/x.worker']", ["x"], "x", "x of acme"],
  ["workers of a package by a glob", "allow_workers: ['acme:workers/*.worker']", ["z", "x"], "z", "z of acme"],
  ["all workers of a package", "allow_workers: ['acme:*']", ["one", "z", "x"], "x", "x of acme"],
  ["a worker by its path", "allow_workers: [./sub/y.worker]", ["y"], "y", "y"],
  ["workers by a glob of paths", "allow_workers: ['./sub/*.worker']", ["q", "y"], "q", "q"],
  ["names, paths and packages", "allow_workers: [near, './sub/y.worker', 'acme:workers/x.worker']", ["near", "y", "x"], "y", "y"],
  ["a worker by its name and its path", "allow_workers: ['n*', ./near.worker]", ["near"], "near", "near"],
])("delegation reaches %s", async (_, delegation, names, name, says) => {
  const called = await callBy(delegation, name);
  expect(called.message).toBeUndefined();
  expect(called.names).toEqual(names);
  expect(called.results).toEqual([{ ok: true, value: `answered as You say ${says}.` }]);
});

test.each(["acme:workers/x.worker", "./sub/y.worker"])("`lock_worker: %s` is called whatever the model names", async (path) => {
  const named = await callBy(`lock_worker: '${path}'`, undefined);
  expect(named.results).toMatchObject([{ ok: true, value: expect.stringMatching(/You say (?:x of acme|y)\./) }]);
  const other = await callBy(`lock_worker: '${path}', allow_workers: ['${path}', near]`, "near");
  expect(other.results).toEqual(named.results);
});

test("a worker that is not allowed is not called, wherever it lies", async () => {
  const { results } = await callBy("allow_workers: ['acme:workers/*.worker']", "y");
  expect(results).toMatchObject([{ ok: false, error: { error: expect.stringContaining("`y` is not among the workers") } }]);
});

test.each<[string, string, RegExp]>([
  ["a package that is no dependency", "other:w.worker", /may not use the package `other`/],
  ["a worker that a package does not have", "acme:workers/none.worker", /there is no file `workers\/none\.worker`/],
  ["a path that is not there", "./sub/none.worker", /there is no file `\.\/sub\/none\.worker`/],
  ["a path out of the program", "../y.worker", /leads out of the program's folder/],
  ["a glob out of the program", "../*.worker", /leads out of the program's folder/],
  ["a path out of a package", "acme:../other/w.worker", /leads out of the package `acme`/],
  ["a glob out of a package", "acme:../other/*.worker", /leads out of the package `acme`/],
])("%s is an error", async (_, path, why) => {
  expect((await callBy(`allow_workers: ['${path}']`, "w")).message).toMatch(why);
});

test("two workers of one name are an error that names both files", async () => {
  const { message } = await callBy("allow_workers: [near, './sub/near.worker']", "near", { "sub/near.worker": says("other") });
  expect(message).toMatch(/`delegation` allows `near`, which could be .*near\.worker.* or .*sub\/near\.worker/);
});

test("a worker of a package finds its paths in the package", async () => {
  const { error, model } = await play({
    files: { ...files, "main.worker": worker("toolsets: { 'acme:one.worker': {} }") },
    model: ({ worker: running, turn, system }) => {
      const input = "go";
      if (running === "main") return turn === 1 ? { calls: [{ tool: "one", args: { input } }] } : "done";
      if (String(system) === "One.")
        return turn === 1 ? { calls: [{ tool: "worker_call", args: { worker: "x", input } }] } : "done";
      return "x";
    },
    approval: { mode: "approve_all" },
    request: { input: "go" },
  });
  expect(error).toBeUndefined();
  expect(model.requests.map(({ system }) => system[0])).toContain("You say x of acme.");
});

test("a created worker gets no worker that its creator names by a path", async () => {
  const toolsets = "toolsets: { delegation: { allow_workers: [near, ./sub/y.worker] }, dynamic_workers: {} }";
  const { error, events } = await play({
    files: { ...files, "main.worker": worker(toolsets) },
    model: ({ worker: running, turn, tools }) => {
      if (running !== "main") return JSON.stringify(tools[0]?.inputSchema);
      const draft = { instructions: "Do it.", toolsets: { delegation: {} } };
      if (turn === 1) return { calls: [{ tool: "worker_create", args: { name: "made", ...draft } }] };
      return turn === 2 ? { calls: [{ tool: "made", args: { input: "go" } }] } : "done";
    },
    approval: { mode: "approve_all" },
    request: { input: "go" },
  });
  expect(error).toBeUndefined();
  const [, made] = events.flatMap((event) => (event.type === "tool-result" && event.depth === 0 ? [event.result] : []));
  expect(made).toMatchObject({ ok: true });
  expect(JSON.stringify(made)).toContain("near");
  expect(JSON.stringify(made)).not.toMatch(/\\"y\\"/);
});
