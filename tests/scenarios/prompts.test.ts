import { describe, expect, test } from "vitest";
import type { Message } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

/** The texts of the first request: system parts, then the parts of the user message. */
async function firstRequest(files: Record<string, string>, request: object) {
  const { model, error } = await play({ files, model: () => "done", request });
  if (error) throw error;
  const asked = model.requests[0];
  const [first] = (asked?.messages ?? []) as readonly Message[];
  const texts = first?.role === "user" ? first.parts.map((part) => (part.type === "text" ? part.text : part.name)) : [];
  return { system: asked?.system, texts, settings: asked?.settings };
}

describe("the first request", () => {
  test("has the rendered instructions as its system part, and what they did not use as its user message", async () => {
    const files = { "main.worker": worker("input: { company: string, focus?: string, n: integer }", "Evaluate {{ company }}.") };
    const { system, texts } = await firstRequest(files, { input: { company: "Acme", n: 3 } });
    expect(system).toEqual(["Evaluate Acme."]);
    expect(texts).toEqual(['{"n":3}']);
  });

  test("sends a lone string `input` as it is, and more as JSON, so that nothing is lost", async () => {
    const files = { "main.worker": worker("input: { input: string, tone?: string }") };
    expect((await firstRequest(files, { input: "plain" })).texts).toEqual(["plain"]);
    expect((await firstRequest(files, { input: { input: "plain", tone: "dry" } })).texts).toEqual([
      '{"input":"plain","tone":"dry"}',
    ]);
  });

  test("says so where the instructions used all of the input", async () => {
    const files = { "main.worker": worker("input: { a: string }", "{{ a }}") };
    expect((await firstRequest(files, { input: { a: "x" } })).texts).toEqual(["(no input)"]);
  });

  test("does not render what an input holds", async () => {
    const files = { "main.worker": worker("input: { a: string }", "{{ a }}") };
    expect((await firstRequest(files, { input: { a: "{{ a }} {% raw %}" } })).system).toEqual(["{{ a }} {% raw %}"]);
  });

  test("renders `prompt` as the user message", async () => {
    const files = { "main.worker": worker('input: { a: string, b?: string }\nprompt: "Look at {{ a }}."', "Be brief.") };
    expect(await firstRequest(files, { input: { a: "it" } })).toMatchObject({ system: ["Be brief."], texts: ["Look at it."] });
  });

  test("has each fragment as a part of its own: the worker's, then the caller's", async () => {
    const files = {
      "main.worker": worker("fragments: [rubric.md]\nsystem_fragments: [house.md]", "Go."),
      "rubric.md": "the rubric",
      "house.md": "the house rules",
    };
    const { system, texts } = await firstRequest(files, { input: "x", fragments: ["from the caller"] });
    expect(system).toEqual(["Go.", "the house rules"]);
    expect(texts).toEqual(["x", "the rubric", "from the caller"]);
  });

  test("includes files of the worker's folder, and of the program's templates", async () => {
    const files = {
      "main.worker": worker("input: { a: string }", '{% render "rubric.md" %} {% render "shared.md" %}'),
      "rubric.md": "own: {{ a }}",
      "templates/shared.md": "shared",
    };
    expect((await firstRequest(files, { input: { a: "x" } })).system).toEqual(["own: x shared"]);
  });

  test("carries the worker's settings", async () => {
    const files = { "main.worker": worker("model_settings: { temperature: 0.2, max_output_tokens: 100, reasoning: low }") };
    expect((await firstRequest(files, { input: "x" })).settings).toEqual({
      temperature: 0.2,
      max_output_tokens: 100,
      reasoning: "low",
    });
  });
});

describe("a template that a call's input makes too much of", () => {
  test("is told to a model that called, and ends nothing", async () => {
    const loop =
      "{% for a in list %}{% for b in list %}{% for c in list %}{% for d in list %}x{% endfor %}{% endfor %}{% endfor %}{% endfor %}";
    const { result } = await play({
      files: {
        "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
        "child.worker": worker("description: c\ninput: { list(array): string }", loop),
      },
      model: ({ worker: name, turn, toolResults }) => {
        if (name === "child") return "never";
        if (turn === 1) return { calls: [{ tool: "child", args: { list: Array.from({ length: 300 }, () => "x") } }] };
        return toolResults()
          .map(({ result: one }) => (one.ok ? "ok" : one.error.type))
          .join();
      },
      request: { input: "x" },
    });
    expect(result?.output).toBe("invalid_arguments");
  });
});
