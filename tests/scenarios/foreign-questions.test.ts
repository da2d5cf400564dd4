import { expect, test } from "vitest";
import { z } from "zod";
import type { ApprovalDecision, ApprovalRequest } from "../../src/index.ts";
import { tool, toolset } from "../../src/index.ts";
import { type AnswerField, askUser } from "../../src/toolsets/foreign-question.ts";
import { play, worker } from "./harness.ts";

const fields: readonly AnswerField[] = [
  { name: "name", type: "string", isRequired: true, about: "Your name" },
  { name: "size", type: "string", isRequired: false, about: "", choices: ["s", "m"], default: "m" },
  { name: "count", type: "integer", isRequired: false, about: "" },
];

/** A run with one call of a tool that asks the user as often as it is told to. */
async function playAsking(
  answers: readonly (ApprovalDecision | undefined)[],
  { mode = "prompt", waits = true }: { readonly mode?: "prompt" | "approve_all"; readonly waits?: boolean } = {},
) {
  const asked: ApprovalRequest[] = [];
  const problems: (string | undefined)[] = [];
  const book = tool({
    name: "book",
    input: z.object({}),
    approval: "pre-approved",
    run: async (_, runtime) => {
      const given = [];
      for (let count = 0; count < answers.length; count++) {
        const asking = askUser(runtime, { from: "the server hotel", message: "Who?\nThe user approves all.", fields });
        if (!waits) continue;
        const answer = await asking;
        given.push(answer.type === "answered" ? answer.values : answer.type);
      }
      return given;
    },
  });
  const played = await play({
    files: { "main.worker": worker("toolsets: { hotel: {} }") },
    tools: { hotel: toolset({ name: "hotel", tools: () => [book] }) },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "book", args: {} }] } : "done"),
    approval: {
      mode,
      approver: async (request, { checkArgs }) => {
        const answer = answers[asked.push(request) - 1] ?? { type: "deny" };
        if (answer.type === "approve" && answer.args) problems.push(await checkArgs(answer.args));
        return answer;
      },
    },
    request: { input: "go" },
  });
  const [result] = played.events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  return { ...played, asked, problems, answered: result?.ok ? result.value : undefined };
}

test("a question of a server comes to the approver as one, and the answer goes back; a replay asks nobody", async () => {
  const filled = { name: "Ada", size: "s", count: null };
  const { asked, answered, journal } = await playAsking([{ type: "approve", args: filled }, { type: "deny" }]);
  expect(answered).toEqual([{ name: "Ada", size: "s" }, "declined"]);
  expect(asked[0]).toMatchObject({
    tool: "elicit",
    description: "Answer a question of the server hotel",
    why: "the server hotel asks, while `book` runs",
    args: { name: null, size: "m", count: null },
    canRemember: false,
    preview: {
      ...{ type: "question", from: "the server hotel", message: "Who?\nThe user approves all." },
      fields: [
        { name: "name", about: "Your name", takes: "a text", isRequired: true },
        { name: "size", about: "", takes: "a text", isRequired: false, choices: ["s", "m"], proposed: "m" },
        { name: "count", about: "", takes: "a whole number", isRequired: false },
      ],
    },
  });
  const decisions = journal.flatMap((fact) => (fact.type === "decision" ? [[fact.key, fact.decision.type, fact.source]] : []));
  expect(decisions).toEqual([
    ["elicit 1", "approve", "person"],
    ["elicit 2", "deny", "person"],
  ]);
});

test("an answer that does not fit is not sent", async () => {
  const { answered, problems, events } = await playAsking([
    { type: "approve" },
    { type: "approve", args: { name: "Ada", size: "xl" } },
    { type: "approve", args: { name: "Ada", card: "1234" } },
    { type: "approve", args: { name: "Ada", count: 1.5 } },
  ]);
  expect(answered).toEqual(["declined", "declined", "declined", "declined"]);
  expect(problems).toEqual(["`size` is one of these: s, m", "there is no field `card`", "`count` is a whole number"]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "warning", message: "the server hotel gets no answer: `name` is missing" }),
  );
});

test("without a person a question is declined, also where all calls are approved", async () => {
  const { asked, answered, result, journal } = await playAsking([undefined], { mode: "approve_all" });
  expect([asked, answered]).toEqual([[], ["declined"]]);
  expect(journal).toContainEqual(expect.objectContaining({ type: "decision", key: "elicit 1", source: "nobody" }));
  expect(result?.denied).toEqual([]);
});

test("the same question is not put a third time after two denials, and the eleventh of a call is not put at all", async () => {
  const { asked } = await playAsking(Array(3).fill({ type: "deny" }));
  expect(asked).toHaveLength(2);
  const many = await playAsking(Array(12).fill({ type: "approve", args: { name: "Ada" } }));
  expect(many.asked).toHaveLength(10);
  expect(many.answered).toEqual([...Array(10).fill({ name: "Ada" }), "declined", "declined"]);
});

test("a call that does not wait for its answers ends after them", async () => {
  const { asked, answered, events } = await playAsking([{ type: "deny" }, { type: "approve" }], { waits: false });
  expect([asked.length, answered]).toEqual([2, []]);
  const types = events.map(({ type }) => type);
  expect(types.lastIndexOf("approval-decision")).toBeLessThan(types.indexOf("tool-result"));
});

test("an approver who says stop ends the run", async () => {
  const { error } = await playAsking([{ type: "stop" }]);
  expect(error).toMatchObject({ name: "RunError", code: "denied" });
});
