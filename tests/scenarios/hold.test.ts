import { describe, expect, test } from "vitest";
import { replayFacts } from "../../src/front/replay.ts";
import { nodeClock } from "../../src/host/node-clock.ts";
import {
  type ApprovalPolicy,
  answerQuestions,
  compile,
  listQuestions,
  type OpenQuestion,
  type RunError,
  type RunEvent,
  resume,
  run,
  tool,
} from "../../src/index.ts";
import { scriptedProvider } from "../../src/models/scripted/scripted-provider.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { readRecord, runsIn } from "../records.ts";
import { worker } from "./harness.ts";

const hold = { mode: "prompt", onUnanswered: "hold" } as const;
const root = "/program";

interface Held {
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
  readonly model: Script;
}

/** A program whose runs hold their questions, on one machine. */
async function prepare({ files, tools = {}, model }: Held) {
  const code = Object.keys(tools).map((name) => `export const ${name} = 0;\n`);
  const all = { ...files, ...(code.length > 0 ? { "tools.ts": code.join("") } : {}) };
  const host = memoryHost({
    files: Object.fromEntries(Object.entries(all).map(([name, text]) => [`${root}/${name}`, text])),
    modules: { [`${root}/tools.ts`]: tools },
  });
  const { serverTools = {} } = scriptedProvider;
  const provider = {
    name: "test",
    description: "d",
    keyVariables: [],
    serverTools,
    create: async () => scriptedModel(model, "test:model"),
  };
  const source = { target: root, model: "test:model", providers: [provider], host, trust: true };
  const suspended = (error: RunError) => {
    if (!error.run) throw error;
    return { error, output: undefined, questions: error.run.questions, warnings: warnings.splice(0) };
  };
  const warnings: string[] = [];
  const onEvent = (event: RunEvent) => void (event.type === "warning" && warnings.push(event.message));
  const done = ({ output }: { readonly output: unknown }) => ({
    error: undefined,
    output,
    questions: [],
    warnings: warnings.splice(0),
  });
  const directoryOf = async () => `${runsIn(root)}/${(await host.files.names(runsIn(root)))[0]}`;
  return {
    host,
    directoryOf,
    begin: (input = "go") => run({ ...source, input, approval: hold }).then(done, suspended),
    goOn: async (approval: ApprovalPolicy = { mode: "prompt" }) =>
      resume({ ...source, directory: await directoryOf(), approval, onEvent }).then(done, suspended),
    open: async () => (await listQuestions({ directory: await directoryOf(), host })).questions,
    answer: async (answers: Parameters<typeof answerQuestions>[0]["answers"]) =>
      answerQuestions({ directory: await directoryOf(), host, answers }),
    file: async (path: string) => host.files.readText(`${root}/${path}`),
    /** Differences of a replay of the run as it is recorded now. */
    replay: async () => {
      const { program } = await compile({ ...source, toRun: true });
      if (!program) throw new Error("the program of this test does not compile");
      const record = await readRecord(host, await directoryOf());
      const { differences, drifts } = await replayFacts(program, { ...record, host: { ...host, clock: nodeClock } });
      return { differences, drifts };
    },
  };
}

const approve = ({ id }: OpenQuestion) => ({ id, decision: { type: "approve" } as const });
const deny = ({ id }: OpenQuestion, note: string) => ({ id, decision: { type: "deny", note } as const });
const same = { differences: [], drifts: [] };

const sandbox = "toolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }";
const calls = (names: readonly string[]) =>
  `toolsets: { ${names.map((name) => `${name}: { _approval_config: { ${name}: { pre_approved: true } } }`).join(", ")} }`;

/** Children that each write one file; child 3 has its own child do it. */
function fanOut(children: number): Held {
  const write = (name: string) => ({ calls: [{ tool: "write_file", args: { path: `out/${name}.txt`, content: name } }] });
  return {
    files: {
      "main.worker": worker(calls(["child"])),
      "child.worker": worker(
        `description: c\ntoolsets: { filesystem: {}, deep: { _approval_config: { deep: { pre_approved: true } } } }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }`,
      ),
      "deep.worker": worker(`description: d\n${sandbox}`),
    },
    model: ({ worker: name, turn, toolResults, lastUserText }) => {
      const results = toolResults().map(({ result }) => (result.ok ? String(result.value) : result.error.error));
      if (turn > 1) return results.join("; ");
      if (name === "main")
        return { calls: Array.from({ length: children }, (_, n) => ({ tool: "child", args: { input: `n${n}` } })) };
      const input = lastUserText();
      return name === "child" && input === "n3" ? { calls: [{ tool: "deep", args: { input } }] } : write(input);
    },
  };
}

describe("a run that holds its questions", () => {
  test("is suspended when all that is left waits, does what was answered, and is suspended again", async () => {
    const program = await prepare(fanOut(8));
    const first = await program.begin();
    expect(first.error).toMatchObject({ code: "suspended", message: "the run is suspended: 8 calls wait for an answer" });
    // The one that is a level deeper asks last, and is listed fourth.
    expect(first.questions.map(({ request }) => request.args["content"])).toEqual(Array.from({ length: 8 }, (_, n) => `n${n}`));
    expect(await program.open()).toEqual(first.questions);
    expect(await program.replay()).toEqual(same);
    const [left, denied, ...approved] = first.questions;
    if (!left || !denied) throw new Error("too few questions");
    await program.answer([deny(denied, "not this one"), ...approved.map(approve)]);
    const second = await program.goOn();
    expect(second.error?.code).toBe("suspended");
    expect(second.questions.map(({ id }) => id)).toEqual([left.id]);
    const written = [...(await program.host.files.names(`${root}/out`))].sort();
    expect(written).toEqual(approved.map(({ request }) => String(request.args["path"]).slice("out/".length)).sort());
    expect(await program.replay()).toEqual(same);
    await program.answer([approve(left)]);
    const third = await program.goOn();
    expect(third.output).toContain("not this one");
    expect((await program.host.files.names(`${root}/out`)).length).toBe(7);
    expect(await program.open()).toEqual([]);
    expect(await program.replay()).toEqual(same);
  });

  test("has an equal replay where nobody has to be asked any more", async () => {
    const program = await prepare(fanOut(2));
    await program.begin();
    const { output, error } = await program.goOn({ mode: "approve_all" });
    expect({ output, error }).toMatchObject({ output: expect.any(String), error: undefined });
    expect(await program.replay()).toEqual(same);
  });

  test("asks again for what has changed since it was answered, and says so", async () => {
    const program = await prepare({
      files: { "main.worker": worker(sandbox), "out/a.txt": "one\n" },
      model: ({ turn, toolResults }) => {
        const edit = { tool: "edit_file", args: { path: "out/a.txt", old_text: "one", new_text: "two" } };
        return turn === 1 ? { calls: [edit] } : JSON.stringify(toolResults());
      },
    });
    const [question] = (await program.begin()).questions;
    if (!question) throw new Error("no question");
    await program.answer([approve(question)]);
    expect(await program.open()).toMatchObject([{ id: question.id, answer: { type: "approve" } }]);
    await program.host.files.writeAtomically(`${root}/out/a.txt`, "one more\n", 0o600);
    const second = await program.goOn();
    expect(second.error?.code).toBe("suspended");
    expect(second.warnings).toEqual(["`edit_file` (main/0.edit_file) was answered, and has changed since: it asks again"]);
    expect(second.questions).toMatchObject([{ id: expect.not.stringMatching(question.id), isChanged: true }]);
    expect(await program.open()).toEqual(second.questions);
    await expect(program.answer([approve(question)])).rejects.toThrow(
      `no question \`${question.id}\` waits in this run: it was settled, or what it asked about has changed`,
    );
    await program.answer(second.questions.map(approve));
    expect((await program.goOn()).error).toBeUndefined();
    expect(await program.file("out/a.txt")).toBe("two more\n");
  });

  test("asks nothing again where a run was killed between an answer and the decision by it", async () => {
    const program = await prepare({
      files: { "main.worker": worker(sandbox) },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "write_file", args: { path: "out/a.txt", content: "a" } }] } : "done"),
    });
    await program.answer((await program.begin()).questions.map(approve));
    expect((await program.goOn()).error).toBeUndefined();
    await program.host.files.remove(`${root}/out/a.txt`);
    const journal = `${await program.directoryOf()}/journal.jsonl`;
    const lines = (await program.host.files.readText(journal)).split("\n");
    const cut = lines.slice(
      0,
      lines.findIndex((line) => line.includes('"type":"decision"')),
    );
    expect(cut.at(-1)).toContain('"kind":"question","outcome":{"type":"value"');
    await program.host.files.writeAtomically(journal, cut.map((line) => `${line}\n`).join(""), 0o600);
    expect(await program.goOn(hold)).toMatchObject({ output: "done" });
    expect(await program.file("out/a.txt")).toBe("a");
  });

  test("holds the calls of parallel code, and goes on with what does not wait", async () => {
    let looks = 0;
    const program = await prepare({
      files: { "main.worker": worker("toolsets: { both: {} }") },
      tools: {
        note: tool({ input: { type: "object" }, run: (args) => `noted ${JSON.stringify(args)}` }),
        look: tool({ input: { type: "object" }, approval: "pre-approved", run: () => ++looks }),
        both: tool({
          input: { type: "object" },
          approval: "pre-approved",
          calls: ["note", "look"],
          replayable: true,
          run: async (_, { call }) => {
            const looking = async () => {
              for (let n = 0; n < 3; n++) await call("look", { n });
              return call("note", { b: 1 });
            };
            return Promise.all([call("note", { a: 1 }), looking()]);
          },
        }),
      },
      model: ({ turn, toolResults }) => (turn === 1 ? { calls: [{ tool: "both", args: {} }] } : JSON.stringify(toolResults())),
    });
    const first = await program.begin();
    expect(first.questions.map(({ request }) => request.args)).toEqual([{ a: 1 }, { b: 1 }]);
    expect(looks).toBe(3);
    await program.answer(first.questions.map(approve));
    const { output } = await program.goOn();
    expect(output).toContain("noted");
    expect(looks).toBe(3);
  });

  test("refuses edited arguments that do not fit the tool, and records none of the answers", async () => {
    const write = (path: string) => ({ tool: "write_file", args: { path, content: "as asked" } });
    const program = await prepare({
      files: { "main.worker": worker(sandbox) },
      model: ({ turn }) => (turn === 1 ? { calls: [write("out/a.txt"), write("out/b.txt")] } : "done"),
    });
    const [first, second] = (await program.begin()).questions as [OpenQuestion, OpenQuestion];
    const edited = ({ id }: OpenQuestion, content: unknown) => ({
      id,
      decision: { type: "approve", args: { path: "out/b.txt", content } } as never,
    });
    const wrong = program.answer([approve(first), edited(second, 2)]);
    await expect(wrong).rejects.toThrow("the arguments of `write_file` do not fit: content");
    expect((await program.open()).map(({ answer }) => answer)).toEqual([undefined, undefined]);
    await program.answer([approve(first), edited(second, "as edited")]);
    // The call that was made of it is asked for anew.
    const { questions } = await program.goOn();
    expect(questions.map(({ request }) => request.args["content"])).toEqual(["as edited"]);
  });

  test("keeps a call that waits behind a held one on the same file where it is", async () => {
    const edit = (text: string) => ({ tool: "write_file", args: { path: "out/a.txt", content: text } });
    const program = await prepare({
      files: { "main.worker": worker(sandbox) },
      model: ({ turn }) => (turn === 1 ? { calls: [edit("one"), edit("two")] } : "done"),
    });
    const first = await program.begin();
    expect(first.questions.map(({ request }) => request.args["content"])).toEqual(["one"]);
    expect(first.error?.run?.behind).toEqual(["main/1.write_file"]);
    await program.answer(first.questions.map(approve));
    const second = await program.goOn();
    expect(second.questions.map(({ request }) => request.args["content"])).toEqual(["two"]);
    expect(await program.file("out/a.txt")).toBe("one");
    await program.answer(second.questions.map((question) => deny(question, "enough")));
    expect((await program.goOn()).output).toBe("done");
    expect(await program.file("out/a.txt")).toBe("one");
  });

  test("holds for tools that the provider executes, before anything is asked of it", async () => {
    const program = await prepare({
      files: { "main.worker": worker("server_side_tools: [{ tool_type: web_search }]") },
      model: () => "done",
    });
    const first = await program.begin();
    expect(first.questions.map(({ request }) => request.tool)).toEqual(["server:web_search"]);
    await program.answer(first.questions.map(approve));
    expect((await program.goOn()).output).toBe("done");
  });

  test("is refused answers while it is executed, and after its end", async () => {
    const asked = Promise.withResolvers<void>();
    const reply = Promise.withResolvers<string>();
    const program = await prepare({
      files: { "main.worker": worker("") },
      model: () => {
        asked.resolve();
        return reply.promise;
      },
    });
    const running = program.begin();
    await asked.promise;
    expect(await program.open()).toEqual([]);
    const answer = [{ id: "0123456789ab", decision: { type: "approve" } }] as const;
    await expect(program.answer(answer)).rejects.toThrow("another process executes this run");
    reply.resolve("done");
    await running;
    expect(await program.open()).toEqual([]);
    await expect(program.answer(answer)).rejects.toThrow("no question `0123456789ab` waits");
  });
});
