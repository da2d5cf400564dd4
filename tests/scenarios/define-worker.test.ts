import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { CompileError, compile, defineWorker, replay, resume, run, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { runsIn } from "../records.ts";

const main = defineWorker({
  name: "main",
  instructions: "Answer {{ topic }}.",
  input: z.object({ topic: z.string() }),
  output: z.object({ words: z.number() }),
  sandbox: { paths: { notes: { root: "./notes", mode: "rw" } } },
  toolsets: { filesystem: {}, helper: { _approval_config: { helper: { pre_approved: true } } } },
});
const helper = defineWorker({ name: "helper", instructions: "Help: as you can.", description: "Helps", sandbox: { paths: {} } });

function setUp() {
  const model = scriptedModel(({ worker, turn, hasTool, system }) => {
    if (worker === "helper") return "help";
    expect(system.join()).toContain("Answer bridges.");
    expect(hasTool("read_file")).toBe(true);
    return turn === 1 ? { calls: [{ tool: "helper", args: { input: "x" } }] } : { json: { words: 3 } };
  });
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  const host = memoryHost({ files: { "/work/notes/a.txt": "a" }, workingDirectory: "/work" });
  return { ...{ host, model: "test:m", providers: [provider] }, approval: { mode: "reject_all" } } as const;
}

test("workers in code compile and run as their files would, the first being the entry", async () => {
  const options = setUp();
  const { output, runId } = await run({ ...options, workers: [main, helper], input: { topic: "bridges" } });
  expect(output).toEqual({ words: 3 });
  const { approval: _, ...compiled } = options;
  const { same } = await replay({ ...compiled, workers: [main, helper], directory: `${runsIn("/work")}/${runId}` });
  expect(same).toBe(true);
});

test("a recorded run of workers in code takes them from the call alone, and its options from the record", async () => {
  const { model, approval: _, ...own } = setUp();
  const options = { ...own, approval: { mode: "reject_all" } } as const;
  const { runId } = await run({ ...options, model, workers: [main, helper], input: { topic: "bridges" } });
  const directory = `${runsIn("/work")}/${runId}`;
  expect(await replay({ ...own, workers: [main, helper], directory })).toMatchObject({ same: true });
  await expect(resume({ ...options, directory })).rejects.toThrow(
    `the workers of ${runId} are made in code (\`main\`, \`helper\`): give them to \`resume\`, \`replay\` or \`fork\` of the library as \`workers\``,
  );
});

test("`program.get` finds a worker by its name or its id", async () => {
  const { approval: _, ...options } = setUp();
  const { program } = await compile({ ...options, workers: [helper, main], entry: "main" });
  expect(program?.get("helper")).toBe(program?.workers.get("helper"));
  expect(program?.get("helper")).toMatchObject({ id: "helper", description: "Helps" });
  expect(program?.get("nobody")).toBeUndefined();
});

test("a mistake is a diagnostic at the key, as in a file", async () => {
  const { approval: _, ...options } = setUp();
  const wrong = defineWorker({ name: "wrong", instructions: "x", model_settings: { temperature: "hot" }, toolset: {} });
  const { diagnostics } = await compile({ ...options, workers: [wrong] });
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ span }) => span?.source.name)).toEqual([
    "wrong.worker",
    "wrong.worker",
  ]);
  const thrown: unknown = await run({ ...setUp(), workers: [wrong], input: "x" }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(CompileError);
  expect(String(thrown)).toMatch(
    /^CompileError: wrong\.worker:\d+:\d+: .*\n.*unknown key `toolset` \[unknown-key\]; did you mean `toolsets`/,
  );
  expect(Object.keys(thrown as object)).not.toContain("diagnostics");
});

test("a schema that has to be converted is refused with what to write", () => {
  const input = mini.object({ city: mini.string() });
  expect(() => defineWorker({ name: "a", instructions: "x", input: input as never })).toThrow(
    "`input` of `a` needs a schema that says its JSON Schema itself, such as one of zod 4, or JSON Schema",
  );
  expect(() => defineWorker({ name: "a", instructions: "x", output: z.object({ at: z.date() }) })).toThrow(
    "`output` of `a`: Date cannot",
  );
});

test("a worker has a name and instructions", () => {
  expect(() => defineWorker({ name: "a b", instructions: "x" })).toThrow("defineWorker.name");
  expect(() => defineWorker({ name: "a", instructions: " " })).toThrow("defineWorker.instructions");
});

test.each([
  ["no workers", { workers: [] }, "`workers` is empty"],
  ["a target beside them", { workers: [main], target: "." }, "`target` and `workers` exclude one another"],
  ["two of one name", { workers: [main, main] }, "two of `workers` have the name `main`"],
  ["what is no worker", { workers: [{}] }, "`compile.workers`"],
])("%s: refused", async (_, request, message) => {
  await expect(compile({ ...request, host: setUp().host } as never)).rejects.toThrow(message);
});

test("an answer that does not fit the output schema is an error that names the field", async () => {
  const model = scriptedModel(() => ({ json: { marks: [{ grade: "good" }] } }));
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  const output = z.object({ marks: z.array(z.object({ grade: z.number() })) });
  const grader = defineWorker({ name: "grader", instructions: "x", output, sandbox: { paths: {} } });
  await expect(run({ ...setUp(), providers: [provider], workers: [grader], input: "x" })).rejects.toThrow(
    "`grader` gave an output that does not fit its schema: marks.0.grade: must be number",
  );
});

test("a tool in the place of its settings is refused with what to write, before it is lost", () => {
  const shout = tool({ input: z.object({ text: z.string() }), run: ({ text }) => text });
  expect(() => defineWorker({ name: "a", instructions: "x", toolsets: { shout } })).toThrow(
    /`toolsets\.shout\.[\w.]+` of `a` is a function.* export a tool from a file, name the file in `files`/,
  );
});

test("a tool in a file that `files` does not name is looked for there", async () => {
  const host = memoryHost({ files: { "/work/tools.ts": "export const shout = 1;" }, workingDirectory: "/work" });
  const shouting = defineWorker({ name: "a", instructions: "x", toolsets: { shout: {} } });
  const { diagnostics } = await compile({ host, workers: [shouting] });
  const unknown = diagnostics.find(({ code }) => code === "unknown-toolset");
  expect(unknown?.notes[0]?.message).toContain("`tools.ts` is no file of this program: name it in `files`");
});
