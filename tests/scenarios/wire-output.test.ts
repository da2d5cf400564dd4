import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type RunEvent, run } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { type Canned, dialects } from "../models/dialects.ts";
import { asksForStream, type Recorded, sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { type OwnDialect, ownDialects } from "../models/own-dialects.ts";
import { worker } from "./harness.ts";

/* An answer that has to fit a schema, over HTTP, with each provider of the table that has a protocol or a package of its own. */

type Form = "native" | "tool";

/** How a provider is asked for the answer of a worker without tools and of one with tools, as the documentation says. */
const page = readFileSync(new URL("../../docs/models.md", import.meta.url), "utf8");
const forms = new Map(
  [...page.matchAll(/^\| (`.*`) +\| `(native|tool)` +\| (?:`(native|tool)`|no tools) +\|$/gm)].flatMap(
    ([, names = "", ...pair]) => names.split(", ").map((name) => [name.replaceAll("`", ""), pair as Form[]] as const),
  ),
);

const whole = { verdict: "good", scores: [1, 2] };
const output = "output: { verdict: string, scores(array): integer }";

function answer(json: object, form: Form): Canned {
  const text = JSON.stringify(json);
  return form === "native" ? { text } : { text: "One moment.", calls: [{ id: "call_answer", tool: "final_answer", args: text }] };
}

function asksForTool({ body }: Recorded): boolean {
  return JSON.stringify(body).includes('"name":"final_answer"');
}

/** Answers first with a list that is none, then as it should; with tools a file is read before. */
function reply(request: Recorded, { tools, turn }: { readonly tools: boolean; readonly turn: number }): Canned {
  if (tools && turn === 0) return { calls: [{ id: "call_read", tool: "read_file", args: '{"path":"decks/0.txt"}' }] };
  const form = asksForTool(request) ? "tool" : "native";
  return answer(turn === (tools ? 1 : 0) ? { ...whole, scores: "none" } : whole, form);
}

async function play(dialect: OwnDialect, tools: boolean) {
  await using server = await startServer((response, request, turn) => {
    const canned = reply(request, { tools, turn });
    if (asksForStream(request)) sendEvents(response, dialect.events(canned));
    else sendJson(response, dialect.body(canned));
  });
  const toolset = tools
    ? "sandbox: { paths: { decks: { root: input } } }\ntoolsets: { filesystem: {} }"
    : "sandbox: { paths: {} }";
  const host = memoryHost({
    environment: dialect.variables(server.url),
    fetch: globalThis.fetch,
    files: { "/program/main.worker": worker(`${output}\n${toolset}`, "Judge."), "/program/input/0.txt": "zero" },
  });
  const events: RunEvent[] = [];
  const result = await run({
    ...{ target: "/program", input: "Begin.", model: dialect.model, approval: { mode: "reject_all" }, host },
    deltas: true,
    onEvent: (event) => events.push(event),
  });
  return { result, events, requests: server.requests };
}

const all: readonly OwnDialect[] = [...dialects, ...ownDialects];
const rows = all.flatMap((dialect) =>
  (dialect.name === "perplexity" ? [false] : [false, true]).map((tools) => [dialect.name, tools, dialect] as const),
);

test.each(rows)("%s gives an answer of a declared form, and mends it once (tools: %s)", async (name, tools, dialect) => {
  const { result, events, requests } = await play(dialect, tools);
  expect(result.output).toEqual(whole);
  expect(requests).toHaveLength(tools ? 3 : 2);
  const [alone, besideTools] = forms.get(name) ?? [];
  expect(requests.map((request) => (asksForTool(request) ? "tool" : "native"))).toEqual(
    requests.map(() => (tools ? besideTools : alone)),
  );
  for (const { body } of requests) expect(JSON.stringify(body)).toContain("scores");
  const partial = events.flatMap((event) => (event.type === "partial-output" ? [event.value] : []));
  expect(partial.at(-1)).toEqual(whole);
});
