import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, expect, it } from "vitest";
import { exitCodeOfFailure, exitCodeOfResult } from "../../src/cli/exit-codes.ts";
import { createPatientFetch } from "../../src/host/patient-fetch.ts";
import { RunError, type RunOutput, run } from "../../src/index.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { isRecord } from "../../src/protocol/json.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { chat, responses } from "../models/dialects.ts";
import { type Answer, type Recorded, sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { runsIn } from "../records.ts";
import { renderTable } from "../render-table.ts";
import { worker } from "./harness.ts";

/*
 * Makes docs/failures.md: `vitest run tests/scenarios/failure-table.test.ts --update` writes it. Each failure is played twice over HTTP:
 * to the entry, and to a worker that the entry has called.
 */

interface Failure {
  readonly name: string;
  readonly answer: Answer;
  readonly streaming?: boolean;
  /** Frontmatter of the worker that fails. */
  readonly frontmatter?: string;
  /** Address of its provider. Default: that of the server that answers. */
  readonly url?: string;
}

const status = (code: number, said: string, headers?: Record<string, string>): Answer => {
  return (response) => sendJson(response, chat.error(said), code, headers);
};
const whole = (body: unknown): Answer => {
  return (response) => sendJson(response, body);
};
const stream = (...events: readonly string[]): Answer => {
  return (response) => sendEvents(response, events);
};
const text = (content: string, type: string): Answer => {
  return (response) => response.writeHead(200, { "content-type": type }).end(content) && undefined;
};
const good = JSON.stringify(chat.body({ text: "The answer is forty-two." }));
const events = chat.events({ text: "The answer is forty-two." });
const schema = "output: { answer: integer }\n";

/** The address of a server that is gone. Other servers of this machine listen at other addresses: none gets its port anew. */
async function findClosedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.9.8.7", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.9.8.7:${port}`;
}

/** The address of a server that takes connections and never answers the handshake of TLS. */
async function startMuteServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failures: readonly Failure[] = [
  { name: "the connection is refused", answer: () => undefined, url: await findClosedAddress() },
  { name: "HTTP 400", answer: status(400, "No such parameter") },
  { name: "HTTP 401", answer: status(401, "Invalid key") },
  { name: "HTTP 402", answer: status(402, "Insufficient credits") },
  { name: "HTTP 403", answer: status(403, "Not allowed") },
  { name: "HTTP 404", answer: status(404, "No such model") },
  { name: "HTTP 408", answer: status(408, "Request timeout") },
  { name: "HTTP 413", answer: status(413, "Too large") },
  { name: "HTTP 429", answer: status(429, "Slow down") },
  { name: "HTTP 429, `retry-after` of 600 s", answer: status(429, "Slow down", { "retry-after": "600" }) },
  {
    name: "HTTP 429, the quota is used up",
    answer: (response) =>
      sendJson(
        response,
        { error: { message: "You exceeded your quota", type: "insufficient_quota", code: "insufficient_quota" } },
        429,
      ),
  },
  { name: "HTTP 500", answer: status(500, "Internal error") },
  { name: "HTTP 502 with a page", answer: (response) => response.writeHead(502).end("<html>Bad gateway</html>") && undefined },
  { name: "HTTP 529", answer: status(529, "Overloaded") },
  {
    name: "a redirect",
    answer: (response) => response.writeHead(307, { location: "http://elsewhere.example/" }).end() && undefined,
  },
  {
    name: "an error whose body is no JSON",
    answer: (response) => response.writeHead(400).end("model is too small") && undefined,
  },
  { name: "the connection is reset", answer: (response) => response.socket?.resetAndDestroy() && undefined },
  {
    name: "no connection for `connect_timeout`",
    answer: () => undefined,
    url: await startMuteServer(),
    frontmatter: "model_settings: { connect_timeout: 0.1, max_retries: 0 }\n",
  },
  {
    name: "stalled before its answer, for `first_byte_timeout`",
    answer: () => undefined,
    frontmatter: "model_settings: { first_byte_timeout: 0.1, max_retries: 0 }\n",
  },
  {
    name: "stalled in its answer, for `idle_timeout`",
    answer: (response) => {
      response.writeHead(200, { "content-type": "application/json" }).write(good.slice(0, -20));
    },
    frontmatter: "model_settings: { idle_timeout: 0.1, max_retries: 0 }\n",
  },
  {
    name: "stalled in its answer, for `idle_timeout` (streamed)",
    answer: (response) => sendEvents(response, events.slice(0, 2), false),
    frontmatter: "model_settings: { idle_timeout: 0.1, max_retries: 0 }\n",
    streaming: true,
  },
  { name: "truncated", answer: text(good.slice(0, -20), "application/json") },
  { name: "truncated (streamed)", answer: stream(...events.slice(0, 2)), streaming: true },
  { name: "an empty stream", answer: stream(), streaming: true },
  { name: "an error in the stream", answer: stream(`data: ${JSON.stringify(chat.error("Broken inside"))}\n\n`), streaming: true },
  { name: "an error with status 200", answer: whole(chat.error("Broken inside")) },
  { name: "a page in the place of an answer", answer: text("<html>Please log in</html>", "text/html") },
  { name: "lacks a required member", answer: whole({ id: "x", choices: [{ index: 0 }] }) },
  {
    name: "headers of 20 kB",
    answer: (response) => response.writeHead(200, { "x-long": "x".repeat(20_000) }).end(good) && undefined,
  },
  { name: "refused", answer: whole(chat.body({ refusal: "I cannot help with that." })) },
  { name: "withheld by a filter", answer: whole(chat.body({ text: "I ca", finish: "content_filter" })) },
  { name: "cut off", answer: whole(chat.body({ text: "The answer is forty-", finish: "length" })) },
  { name: "ends with an unknown word", answer: whole(chat.body({ text: "The answer is forty-", finish: "abort" })) },
  { name: "empty, twice", answer: whole(chat.body({})) },
  { name: "does not fit the output schema", answer: whole(chat.body({ text: '{"answer":"many"}' })), frontmatter: schema },
];

/** These are answers like any other. */
const harmless: readonly Failure[] = [
  { name: "a whole answer where a stream was asked for", answer: text(good, "application/json"), streaming: true },
  { name: "an event of an unknown kind", answer: stream('data: {"type":"ping"}\n\n', ...events), streaming: true },
  {
    name: "no usage",
    answer: whole({ ...(chat.body({ text: "The answer is forty-two." }) as object), usage: undefined }),
  },
];

interface Played {
  /** The end of the run with the failing worker as its entry, as its caller gets it. */
  readonly caller: string;
  readonly exitCode: number;
  readonly requests: number;
  /** Each model request of the failing worker, as the journal has it. */
  readonly journal: string;
  /** The failed call of the same worker, as the model gets it that called it. */
  readonly model: string;
  readonly message: string;
}

const parent = `model: ${responses.model}\ninput: {}\ntoolsets: { child: {} }\n`;

interface Ended {
  readonly result?: RunOutput;
  readonly error?: RunError;
  readonly requests: readonly Recorded[];
  readonly facts: readonly JournalEntry[];
}

/** Plays the failing worker itself, or one of another provider that calls it. */
async function playEntry(entry: "child" | "main", failure: Failure): Promise<Ended> {
  const { answer, streaming = false, frontmatter = "" } = failure;
  await using server = await startServer((response, request, index) => {
    if (request.path.endsWith("/chat/completions")) return answer(response, request, index);
    const isOver = responses.results(request).length > 0;
    const canned = isOver ? { text: "done" } : { calls: [{ id: "c", tool: "child", args: "{}" }] };
    return streaming ? sendEvents(response, responses.events(canned)) : sendJson(response, responses.body(canned));
  });
  const host = memoryHost({
    environment: { ...responses.variables(server.url), ...chat.variables(failure.url ?? server.url) },
    fetch: createPatientFetch(),
    files: {
      "main.worker": worker(parent),
      "child.worker": `---\ndescription: Fails.\nmodel: ${chat.model}\ninput: {}\n${frontmatter}---\nYou are the child.\n`,
    },
  });
  const outcome = await run({
    target: ".",
    entry,
    approval: { mode: "approve_all" },
    host: { ...host, clock: { ...host.clock, sleep: async () => undefined } },
    deltas: streaming,
    input: {},
    // A request that hangs is a row that differs.
    signal: AbortSignal.timeout(30_000),
  }).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (error instanceof RunError) return { error };
      throw error;
    },
  );
  const [journal = ""] = Object.entries(host.snapshot(runsIn("/work"))).flatMap(([path, content]) =>
    path.endsWith("journal.jsonl") ? [content] : [],
  );
  const facts = journal
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JournalEntry);
  return { ...outcome, requests: server.requests, facts };
}

async function play(failure: Failure): Promise<Played> {
  const own = await playEntry("child", failure);
  const called = await playEntry("main", failure);
  const told = called.requests.filter(({ path }) => path.endsWith("/responses")).flatMap((request) => responses.results(request));
  return {
    caller: own.error ? `\`${own.error.code}\`` : `\`${own.result?.stopReason}\`, with the output`,
    exitCode: own.result ? exitCodeOfResult(own.result) : exitCodeOfFailure(own.error),
    requests: own.requests.length,
    journal: describeOutcomes(own.facts),
    model: told[0] === undefined ? "the run ends" : describeResult(told[0].content),
    message: (own.error?.message ?? own.result?.reason ?? "")
      .replaceAll(`${chat.model} `, "")
      .replace(/127\.[\d.]+:\d+/, "127.0.0.1:PORT")
      .replaceAll("|", "\\|"),
  };
}

function describeOutcomes(facts: readonly JournalEntry[]): string {
  const outcomes = facts.flatMap((fact) => (fact.type === "result" && fact.kind === "model" ? [fact.outcome] : []));
  const words = outcomes.map((outcome) => {
    if (outcome.type === "value") return "answer";
    const { code } = outcome.type === "error" && isRecord(outcome.error) ? outcome.error : { code: outcome.type };
    return `\`${code}\``;
  });
  return [...Map.groupBy(words, (word) => word)]
    .map(([word, all]) => (all.length > 1 ? `${all.length} × ${word}` : word))
    .join(", ");
}

function describeResult(content: unknown): string {
  const { type, error } = JSON.parse(String(content));
  return `\`${type ?? error?.type}\``;
}

const intro = `# Failures of a provider

This table is made by the test that plays each failure over HTTP (\`tests/scenarios/failure-table.test.ts\`), with a server that answers as
the first column says each time it is asked. [Models](models.md#failures-and-waits) describes which failures are retried and how to set that,
[Limits](limits.md#endings) how answers end. A [script](scripts.md) can play failures, too:

\`\`\`yaml
- reply: { error: { code: rate_limit, message: Slow down } }
\`\`\`

| column   |                                                                                                           |
| -------- | --------------------------------------------------------------------------------------------------------- |
| requests | how many were made in all                                                                                 |
| caller   | the code of the \`RunError\`, or the \`stopReason\` of the result: of \`run()\`, of \`--json\`, and of the events |
| exit     | the exit code of the command                                                                              |
| model    | the \`type\` of the error that a model gets if it was the one to call the worker; or the whole run ends     |
| journal  | how the requests ended, as they are recorded                                                              |
| message  | follows the id of the model, or names the worker                                                          |
`;

it("docs/failures.md has what becomes of each failure", { timeout: 300_000 }, async () => {
  const rows: (readonly string[])[] = [];
  for (const failure of failures) {
    const { caller, exitCode, requests, journal, model, message } = await play(failure);
    rows.push([failure.name, String(requests), caller, String(exitCode), model, journal, message]);
  }
  const head = ["the provider", "requests", "caller", "exit", "model", "journal", "message"];
  await expect(`${intro}\n${renderTable([head, ...rows])}`).toMatchFileSnapshot("../../docs/failures.md");
});

it.each(harmless)("$name is no failure", async (failure) => {
  const { result, requests } = await playEntry("child", failure);
  expect(result).toMatchObject({ stopReason: "done", output: "The answer is forty-two." });
  expect(requests).toHaveLength(1);
});
