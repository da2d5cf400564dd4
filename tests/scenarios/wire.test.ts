import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { type RunEvent, run } from "../../src/index.ts";
import { builtInProviders } from "../../src/models/providers/providers.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { sha256 } from "../../src/util/sha256.ts";
import { type Canned, chat, dialects } from "../models/dialects.ts";
import { asksForStream, type Recorded, sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { type OwnDialect, ownDialects } from "../models/own-dialects.ts";
import { worker } from "./harness.ts";

const deck = new URL("../../examples/pitchdeck_eval/input/parcelmoth.pdf", import.meta.url);
const toolTurns = 10;

/** A picture of one dot. */
const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** The files that the models of a provider take, as the table of providers has it. */
function filesOf({ name }: OwnDialect): readonly string[] {
  const { attachments = ["*"] } = builtInProviders.find((provider) => provider.name === name) ?? {};
  const takes = (type: string) => attachments.some((glob) => glob === "*" || type.startsWith(glob.replace("*", "")));
  return [...(takes("application/pdf") ? ["parcelmoth.pdf"] : []), ...(takes("image/png") ? ["dot.png"] : [])];
}

/** The dialect of the worker that calls tools: another one where the models of a provider take none. */
function callerOf(dialect: OwnDialect): OwnDialect {
  return dialect.name === "perplexity" ? chat : dialect;
}

/** Plays both workers: ten turns of reading, then two children at once with the files, then the end. */
function answer(dialect: OwnDialect, request: Recorded): Canned {
  if (isChild(request)) return { text: "the child read it" };
  const results = callerOf(dialect).results(request);
  if (results.length < toolTurns)
    return {
      text: `turn ${results.length}`,
      calls: [call(results.length, "read_file", { path: `decks/${results.length % 2}.txt`, max_chars: 100 + results.length })],
    };
  const files = filesOf(dialect);
  const attachments = (files.length > 0 ? files : ["0.txt"]).map((file) => `decks/${file}`);
  if (results.length === toolTurns) return { calls: [0, 1].map((n) => call(toolTurns + n, "child", { attachments })) };
  return { text: "done" };
}

function call(id: number, tool: string, args: object) {
  return { id: `call_${id}`, tool, args: JSON.stringify(args) };
}

function isChild({ body }: Recorded): boolean {
  return JSON.stringify(body).includes("You are the child.");
}

async function play(dialect: OwnDialect, streaming: boolean) {
  await using server = await startServer((response, request) => {
    const canned = answer(dialect, request);
    const { events, body } = isChild(request) ? dialect : callerOf(dialect);
    if (asksForStream(request)) sendEvents(response, events(canned));
    else sendJson(response, body(canned));
  });
  const events: RunEvent[] = [];
  const host = memoryHost({
    environment: { ...callerOf(dialect).variables(server.url), ...dialect.variables(server.url) },
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": worker(
        "sandbox: { paths: { decks: { root: input } } }\ntoolsets: { filesystem: {}, child: { _approval_config: { child: { pre_approved: true } } } }",
        "You are main.",
      ),
      "/program/child.worker": worker(
        `description: Reads.\nmodel: ${dialect.model}\ninput: { attachments(array): attachment }`,
        "You are the child.",
      ),
      "/program/input/0.txt": "zero",
      "/program/input/1.txt": "one",
      "/program/input/parcelmoth.pdf": await readFile(deck),
      "/program/input/dot.png": dot,
    },
  });
  const result = await run({
    target: "/program",
    input: "Begin.",
    model: callerOf(dialect).model,
    approval: { mode: "reject_all" },
    host,
    deltas: streaming,
    onEvent: (event) => events.push(event),
  });
  return { result, events, requests: server.requests };
}

const all: readonly OwnDialect[] = [...dialects, ...ownDialects];
const rows = all.flatMap((dialect) => [false, true].map((streaming) => [dialect.name, streaming, dialect] as const));

test.each(rows)("a run on %s goes through ten turns of tools and two children with files (streamed: %s)", async (...row) => {
  const [, streaming, dialect] = row;
  const { result, events, requests } = await play(dialect, streaming);
  expect(result.output).toBe("done");
  expect(requests).toHaveLength(toolTurns + 4);
  expect(result.usage).toMatchObject({
    requests: toolTurns + 4,
    inputTokens: 100 * (toolTurns + 4),
    outputTokens: 20 * (toolTurns + 4),
    cachedInputTokens:
      [...Array<OwnDialect>(toolTurns + 2).fill(callerOf(dialect)), dialect, dialect].filter((one) => one.reportsCache !== false)
        .length * 40,
  });
  const last = requests.at(-1);
  const contents = last ? callerOf(dialect).results(last) : [];
  expect(contents.map(({ id }) => id)).toEqual(Array.from({ length: toolTurns + 2 }, (_, n) => `call_${n}`));
  expect(JSON.stringify(contents[0])).toContain("zero");
  expect(JSON.stringify(contents.slice(-2))).toContain("the child read it");
  const bytes = { "parcelmoth.pdf": await readFile(deck), "dot.png": dot };
  const files = filesOf(dialect).map((name) => bytes[name as keyof typeof bytes].toString("base64"));
  const children = requests.filter(isChild);
  expect(children).toHaveLength(2);
  for (const data of files.length > 0 ? files : ["zero"])
    for (const { body } of children) expect(JSON.stringify(body)).toContain(data);
  for (const data of files)
    for (const request of requests.filter((one) => !isChild(one)))
      expect(JSON.stringify(request.body)).not.toContain(data.slice(0, 80));
  expect(events.some(({ type }) => type === "text-delta")).toBe(streaming);
});

describe.each(dialects)("a run on $name", (dialect) => {
  test("sends and keeps the same messages, streamed or not", async () => {
    const [plain, streamed] = [await play(dialect, false), await play(dialect, true)];
    expect(streamed.result.messages).toEqual(plain.result.messages);
    const bodies = (requests: readonly Recorded[]) =>
      requests.map(({ body }) => sha256(JSON.stringify(body.messages ?? body.input))).sort();
    expect(bodies(streamed.requests)).toEqual(bodies(plain.requests));
  });
});
