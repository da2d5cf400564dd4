import { describe, expect, it } from "vitest";
import { type ApprovalPolicy, unsure, type WorkerRuntime } from "../../src/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { tool } from "../../src/toolsets/tool.ts";
import { play, type Scenario } from "./harness.ts";
import { type Attempt, attempt, createWorld, expectReplays, type KillableProgram } from "./killable.ts";

const empty = { type: "object", properties: {}, additionalProperties: false } as const;
const prices = { "*": { input: 0.1, output: 0.1 } };
const sorter = (more = "check: 1\n") =>
  `---\ndescription: Sorts.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\ncode: tools.ts:sort\n${more}---\nSort it.\n`;

const byHangs = ({ message }: { readonly message: string }) =>
  message.includes("hangs") ? { kind: "bug" } : unsure("no word that decides");

async function sort(message: string, given: Partial<Scenario> & { readonly worker?: string } = {}) {
  const { worker = sorter(), tools, ...rest } = given;
  const played = await play({
    ...{ files: { "main.worker": worker }, tools: { sort: byHangs, ...tools }, model: () => ({ json: { kind: "wish" } }) },
    ...rest,
    request: { input: { message }, prices, ...rest.request },
  });
  const checked = played.events.flatMap((event) => (event.type === "checked" ? [event] : []));
  return { ...played, checked, output: played.result?.output, requests: played.model.requests.length };
}

describe("check", () => {
  it("has the prompt answer what the code answered, compares the two, and uses the code's", async () => {
    const { output, checked, requests, journal, result } = await sort("it hangs");
    expect({ output, requests }).toEqual({ output: { kind: "bug" }, requests: 1 });
    expect(checked).toMatchObject([{ callPath: "main", worker: "main", agrees: false, different: ["kind"] }]);
    expect(journal.at(-2)).toMatchObject({ type: "checked", callPath: "main", agrees: false });
    expect(journal.at(-1)).toMatchObject({ type: "run-end", stopReason: "done" });
    expect(result?.usage.requests).toBe(1);
  });

  it("says that they agree", async () => {
    const { checked } = await sort("it hangs", { model: () => ({ json: { kind: "bug" } }) });
    expect(checked).toMatchObject([{ agrees: true }]);
  });

  it("asks nothing about what the prompt answered, with a share of 0, or in a conversation", async () => {
    expect(await sort("please")).toMatchObject({ checked: [], requests: 1 });
    expect(await sort("it hangs", { worker: sorter("check: 0\n") })).toMatchObject({ checked: [], requests: 0 });
  });

  it("chooses by the run and the path, and about as often as it is asked to", async () => {
    const main = "toolsets: { sort: {} }\n---\nGo.\n";
    const code = async (_: unknown, runtime: WorkerRuntime) => {
      await runtime.map(
        "sorter",
        Array.from({ length: 200 }, () => ({ message: "it hangs" })),
      );
      return "done";
    };
    const files = {
      "main.worker": `---\ndescription: Main.\ninput: { message: string }\ncode: tools.ts:all\n${main.replace("sort:", "sorter:")}`,
      "sorter.worker": sorter("check: 0.2\n"),
    };
    const approval: ApprovalPolicy = { mode: "approve_all" };
    const { checked } = await sort("x", { files, approval, tools: { all: code }, request: { limits: { depth: 3 } } });
    expect(checked.length).toBeGreaterThan(15);
    expect(checked.length).toBeLessThan(70);
    expect(checked.map(({ callPath }) => callPath)).toEqual(checked.map(({ callPath }) => callPath).toSorted(byNumber));
  });

  it("grants nothing: a call that may change something is blocked, and one that asks is denied", async () => {
    const done: string[] = [];
    const write = tool({ description: "W.", input: empty, approval: "pre-approved", run: () => done.push("write") });
    const ask = tool({ description: "A.", input: empty, sideEffect: false, run: () => done.push("ask") });
    const look = tool({ ...lookAt(done), sideEffect: false });
    const model: Script = (request) =>
      request.toolResults().length === 0
        ? { calls: ["write", "ask", "look"].map((tool) => ({ tool })) }
        : { json: { kind: "bug" } };
    const approval: ApprovalPolicy = { mode: "approve_all" };
    const worker = sorter("check: 1\ntoolsets: { write: {}, ask: {}, look: {} }\n");
    const { checked, result } = await sort("it hangs", { worker, approval, model, tools: { write, ask, look } });
    expect(done).toEqual(["look"]);
    expect(checked).toMatchObject([{ agrees: true }]);
    expect(result?.denied).toEqual([]);
  });

  it.each<[what: string, more: Partial<Scenario> & { readonly worker?: string }, why: RegExp]>([
    ["the prompt fails", { model: () => ({ error: { code: "bad_request", message: "down" } }) }, /down/],
    ["no price is known", { request: { prices: {} } }, /no price is known for `test:model`/],
  ])("fails nothing where %s", async (_, more, why) => {
    const { output, checked } = await sort("it hangs", more).catch((error) => ({ output: error, checked: [] }));
    expect(output).toEqual({ kind: "bug" });
    expect(checked[0]?.skipped).toMatch(why);
  });

  it("is skipped where something of the run was denied", async () => {
    const pay = tool({ description: "P.", input: empty, run: () => 1 });
    const use = async (input: { readonly message: string }, runtime: WorkerRuntime) => {
      await runtime.call("pay", {}).catch(() => undefined);
      return byHangs(input);
    };
    const worker = sorter("check: 1\ntoolsets: { pay: {} }\n");
    const { checked, requests } = await sort("it hangs", { worker, tools: { pay, sort: use } });
    expect({ checked, requests }).toMatchObject({ checked: [{ skipped: "a call of the run was denied" }], requests: 0 });
  });

  it("is nothing without code or without a prompt, and says so", async () => {
    const { events } = await sort("it hangs", { worker: sorter().replace("Sort it.\n", "") });
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
    expect(warnings.join("\n")).toMatch(/`check` compares the code of `main` with its prompt, and it has no instructions/);
  });

  it("is killed at every entry, and goes on without repeating a request or a note, with the same choice", async () => {
    const ledger: Ledger = { asked: [], noted: [] };
    const program = createChecked(ledger);
    const begin = () =>
      createWorld(
        program.files,
        program.tools(async () => undefined),
      );
    const first = await attempt(begin(), program, undefined, { prices });
    expect(first.error).toBeUndefined();
    // Worlds have runs of one id, and so of one choice: some of the answers of code, and not all.
    const chosen = checkedIn(first);
    expect([chosen.length > 0, chosen.length < answersOfCode]).toEqual([true, true]);
    const whole = [...ledger.asked].sort();
    expect(whole).toHaveLength(2 + chosen.length);
    expect(ledger.noted).toEqual(messages.filter((message) => message.includes("note")));
    const unsureAfter = whole.filter((text) => text.includes("noted"));
    expect(unsureAfter).toHaveLength(1);
    for (let kill = 2; kill <= first.record.facts.length; kill++) {
      [ledger.asked, ledger.noted] = [[], []];
      const world = begin();
      const killed = await attempt(world, program, kill, { prices });
      const last = killed.wasKilled ? await attempt(world, program, undefined, { prices }) : killed;
      expect(last.error, `killed at ${kill}`).toBeUndefined();
      expect(last.result?.output).toEqual(first.result?.output);
      expect([...ledger.noted].sort(), `killed at ${kill}`).toEqual(
        messages.filter((message) => message.includes("note")).sort(),
      );
      expect(checkedIn(last)).toEqual(chosen);
      // The request whose answer was lost with the process is made again, and no other.
      expect(new Set(ledger.asked)).toEqual(new Set(whole));
      expect(ledger.asked.length - whole.length).toBeLessThanOrEqual(1);
      await expectReplays(world, createChecked({ asked: [], noted: [] }));
    }
  }, 120_000);
});

function lookAt(done: string[]) {
  return { description: "L.", input: empty, approval: "pre-approved" as const, run: () => done.push("look") };
}

function byNumber(one: string, other: string): number {
  return Number.parseInt(one.split("/").at(-1) ?? "", 10) - Number.parseInt(other.split("/").at(-1) ?? "", 10);
}

interface Ledger {
  asked: string[];
  noted: string[];
}

/** Those with `hangs` are answered by code, and the others by the prompt; `note` is noted before. */
const messages = ["hangs 1", "please", "hangs 2, note", "a wish, note", "hangs 3", "hangs 4"];
const answersOfCode = messages.filter((message) => message.includes("hangs")).length;

/** A run with answers of code, answers of the prompt behind code, also after a call that changes something, and checks. */
function createChecked(ledger: Ledger): KillableProgram {
  const files = {
    "main.worker": "---\ndescription: Main.\ninput: { input: string }\ncode: tools.ts:all\ntoolsets: { sorter: {} }\n---\nGo.\n",
    "sorter.worker": sorter("check: 0.5\ntoolsets: { note: {} }\n"),
  };
  const all = async (_: unknown, runtime: WorkerRuntime) => {
    const outputs: unknown[] = [];
    for (const message of messages) outputs.push(await runtime.call("sorter", { message }));
    return JSON.stringify(outputs);
  };
  const sortAndNote = async (input: { readonly message: string }, runtime: WorkerRuntime) => {
    if (input.message.includes("note")) await runtime.call("note", { message: input.message });
    return byHangs(input);
  };
  const note = (live: () => Promise<void>) =>
    tool({
      description: "N.",
      input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      approval: "pre-approved",
      run: async ({ message }) => {
        await live();
        ledger.noted.push(String(message));
        return "noted";
      },
      reconcile: async ({ canonicalArgs: { message } }) =>
        ledger.noted.includes(String(message)) ? { done: "noted" } : "not-done",
    });
  return {
    files,
    tools: (live) => ({ all, sort: sortAndNote, note: note(live) }),
    model: (request) => {
      ledger.asked.push(request.lastUserText());
      return { json: { kind: "wish" } };
    },
    approval: () => ({ mode: "approve_all" }),
    input: "go",
  };
}

/** Paths of the calls that were checked, each as often as it was. */
function checkedIn({ record }: Attempt): readonly string[] {
  return record.facts.flatMap((fact) => (fact.type === "checked" ? [fact.callPath] : []));
}
