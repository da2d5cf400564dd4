import { expect, test } from "vitest";
import { nodeClock } from "../../src/host/node-clock.ts";
import { fork, replay, resume, run, tool } from "../../src/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { readRecord, runsIn } from "../records.ts";

const usage = { inputTokens: 100, outputTokens: 10 };
const approval = { mode: "approve_all" as const };

/** A program in memory with a tool `note`, which counts its executions. */
function createProgram(workers: Readonly<Record<string, string>>) {
  const done: string[] = [];
  const note = tool({
    input: { type: "object", properties: { id: { type: "string" } } },
    run: ({ id }: { id?: string }) => {
      done.push(String(id));
      return `did ${id}`;
    },
  });
  const files = Object.entries(workers).map(([name, text]) => [`/p/${name}.worker`, text]);
  const host = memoryHost({
    files: { ...Object.fromEntries(files), "/p/tools.ts": "export const note = 0;\n" },
    modules: { "/p/tools.ts": { note } },
  });
  return { host: { ...host, clock: nodeClock }, memory: host, done };
}

function asking(host: Pick<MemoryHost, "files">, script: Script) {
  const model = scriptedModel(script, "test:m");
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  return { model, request: { host: host as MemoryHost, target: "/p", model: "test:m", providers: [provider], trust: true } };
}

const main = "---\ntoolsets: { note: {} }\n---\nYou note.\n";
const noting: Script = ({ turn }) =>
  turn <= 2 ? { calls: [{ tool: "note", args: { id: `n${turn}` } }], usage } : { text: "first answer", usage };
const directoryOf = (runId: string) => `${runsIn("/p")}/${runId}`;

test("shares what came before the turn, and goes on live with another prompt", async () => {
  const { host, memory, done } = createProgram({ main });
  const { runId } = await run({ ...asking(host, noting).request, input: "go", approval });
  memory.put("/p/main.worker", main.replace("You note.", "You note nothing more."));
  const { model, request } = asking(host, () => ({ text: "second answer", usage }));
  const forked = await fork({ ...request, directory: directoryOf(runId), at: { turn: 2 }, approval });
  expect(forked).toMatchObject({ output: "second answer", usage: { requests: 1, inputTokens: 100 } });
  expect(done).toEqual(["n1", "n2"]);
  const [asked] = model.requests;
  expect(model.requests).toHaveLength(1);
  expect(asked?.system[0]).toContain("You note nothing more.");
  expect(JSON.stringify(asked?.messages)).toContain("did n1");
  expect(JSON.stringify(asked?.messages)).not.toContain("did n2");
  const { facts } = await readRecord(host, directoryOf(forked.runId));
  expect(facts[0]).toMatchObject({ type: "run-start", forkOf: runId });
  const report = await replay({
    host,
    target: "/p",
    model: "test:m",
    providers: request.providers,
    trust: true,
    directory: directoryOf(forked.runId),
  });
  expect({ differences: report.differences, drifts: report.drifts, usage: report.result?.usage }).toEqual({
    differences: [],
    drifts: [],
    usage: forked.usage,
  });
});

test("asks the last request of the entry again, of another model, where no turn is named", async () => {
  const { host, done } = createProgram({ main });
  const { runId } = await run({ ...asking(host, noting).request, input: "go", approval });
  const { model, request } = asking(host, ({ turn }) => ({ text: `turn ${turn}`, usage }));
  const forked = await fork({ ...request, model: "test:other", directory: directoryOf(runId), approval });
  expect({ output: forked.output, requests: model.requests.length, done }).toEqual({
    output: "turn 3",
    requests: 1,
    done: ["n1", "n2"],
  });
});

test("puts another input before the recorded answers", async () => {
  const { host, done } = createProgram({ main });
  const { runId } = await run({ ...asking(host, noting).request, input: "go", approval });
  const { model, request } = asking(host, () => ({ text: "done", usage }));
  await fork({ ...request, directory: directoryOf(runId), at: { turn: 2 }, input: "go on", approval });
  expect(JSON.stringify(model.requests[0]?.messages[0])).toContain("go on");
  expect(done).toEqual(["n1", "n2"]);
});

test("leaves the run in a call, and does not enter the calls beside it again", async () => {
  const helper = (name: string) => `---\nname: ${name}\ndescription: helps\ntoolsets: { note: {} }\n---\nYou are ${name}.\n`;
  const workers = {
    main: "---\ntoolsets: { one: {}, two: {} }\n---\nYou delegate.\n",
    one: helper("one"),
    two: helper("two"),
  };
  const { host, done } = createProgram(workers);
  const script: Script = ({ turn, system }) => {
    if (system[0]?.includes("You delegate"))
      return turn === 1
        ? { calls: ["one", "two"].map((name) => ({ tool: name, args: { input: "x" } })), usage }
        : { text: "all", usage };
    const name = system[0]?.includes("You are one") ? "one" : "two";
    return turn === 1 ? { calls: [{ tool: "note", args: { id: name } }], usage } : { text: `by ${name}`, usage };
  };
  const { runId } = await run({ ...asking(host, script).request, input: "go", approval });
  const { model, request } = asking(host, ({ system }) => ({
    text: system[0]?.includes("You are two") ? "anew" : "all anew",
    usage,
  }));
  const forked = await fork({ ...request, directory: directoryOf(runId), at: { callPath: "main/1.two", turn: 2 }, approval });
  expect(forked).toMatchObject({ output: "all anew", usage: { requests: 2 } });
  expect(done.toSorted()).toEqual(["one", "two"]);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/by one.*anew/);
  const report = await replay({ ...request, directory: directoryOf(forked.runId) });
  expect({ differences: report.differences, drifts: report.drifts }).toEqual({ differences: [], drifts: [] });
});

test("goes on as a run of its own where the fork was killed", async () => {
  const { host, memory, done } = createProgram({ main });
  const { runId } = await run({ ...asking(host, noting).request, input: "go", approval });
  const { request } = asking(host, noting);
  const forked = await fork({ ...request, directory: directoryOf(runId), at: { turn: 3 }, approval });
  const journal = `${directoryOf(forked.runId)}/journal.jsonl`;
  const lines = (await host.files.readText(journal)).split("\n");
  memory.put(journal, `${lines.filter((line) => !/"type":"(run|call)-end"/.test(line)).join("\n")}`);
  const killed = { ...host, processes: { self: "memory 2", isRunning: () => false } };
  const resumed = await resume({ ...asking(killed, noting).request, directory: directoryOf(forked.runId), approval });
  expect({ output: resumed.output, done }).toEqual({ output: "first answer", done: ["n1", "n2"] });
});

test("names the requests that there are where the point is none of them", async () => {
  const { host } = createProgram({ main });
  const { runId } = await run({ ...asking(host, noting).request, input: "go", approval });
  const { request } = asking(host, noting);
  const at = (point: object) => fork({ ...request, directory: directoryOf(runId), at: point, approval });
  await expect(at({ callPath: "main/7.two" })).rejects.toThrow(
    "no request of `main/7.two` is recorded; there are requests of `main`",
  );
  await expect(at({ turn: 9 })).rejects.toThrow("`main` has 3 recorded turns");
});
