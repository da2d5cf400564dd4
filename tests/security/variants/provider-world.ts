import { type RunError, type RunEvent, type RunOutput, type RunRequest, run, tool } from "../../../src/index.ts";
import type { Usage } from "../../../src/protocol/usage.ts";
import { type MemoryHostOptions, memoryHost } from "../../../src/testing/memory-host.ts";
import type { Canned, Dialect } from "../../models/dialects.ts";
import { type Answer, type Recorded, sendEvents, sendJson, startServer } from "../../models/local-server.ts";
import { worker } from "../../scenarios/harness.ts";

/** OpenRouter speaks chat completions and adds members of its own. */
export const openrouter: Pick<Dialect, "model" | "variables"> = {
  model: "openrouter:anthropic/claude-sonnet-4.5",
  variables: (url) => ({ OPENROUTER_BASE_URL: `${url}/v1`, OPENROUTER_BASE_URL_KEY: "test-key-openrouter" }),
};

/** Any JSON of a wire format. */
// biome-ignore lint/suspicious/noExplicitAny: wire data
export type Wire = any;

/** One answer in both forms: a body, and the events of a stream. Absent: not sent in that form. */
export interface Reply {
  readonly body?: unknown;
  readonly events?: readonly string[];
  readonly status?: number;
}

export function event(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A whole answer of the dialect, in both forms. */
export function whole(dialect: Dialect, canned: Canned): Reply {
  return { body: dialect.body(canned), events: dialect.events(canned) };
}

/** Changes the JSON of each event; undefined leaves the event out. */
export function mapEvents(events: readonly string[], change: (data: Wire) => unknown): string[] {
  return events.flatMap((text) => {
    const [, json = ""] = /^data: (.*)$/m.exec(text) ?? [];
    const changed = json === "[DONE]" ? json : change(JSON.parse(json));
    return changed === undefined ? [] : [event(changed)];
  });
}

export interface Play extends Partial<Omit<RunRequest, "host" | "files">> {
  readonly dialect: Pick<Dialect, "model" | "variables">;
  readonly streaming?: boolean;
  /** In order; after the last, the server answers nothing but "no more answers" in a form that no provider has. */
  readonly replies?: readonly Reply[];
  readonly answer?: Answer;
  readonly frontmatter?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly isolation?: MemoryHostOptions["isolation"];
}

export interface Played {
  readonly result: RunOutput | undefined;
  readonly error: RunError | undefined;
  readonly usage: Usage | undefined;
  /** Arguments of the executions of `note`, the one tool, which needs no argument. */
  readonly executed: readonly object[];
  readonly events: readonly RunEvent[];
  readonly requests: readonly Recorded[];
}

/** Plays a worker with one tool against a local server that speaks a provider's protocol. Waits between attempts take no time. */
export async function play({
  dialect,
  streaming = false,
  replies = [],
  answer,
  frontmatter = "",
  files = {},
  environment,
  ...request
}: Play): Promise<Played> {
  const send: Answer = (response, { body }, index) => {
    const reply = replies[index];
    if (!reply) sendJson(response, { error: { message: "no more answers" } }, 400);
    else if (body.stream === true && reply.events) sendEvents(response, reply.events);
    else sendJson(response, reply.body, reply.status);
  };
  await using server = await startServer(answer ?? send);
  const executed: object[] = [];
  const note = tool({
    description: "Notes it.",
    input: { type: "object", properties: { text: { type: "string" } } },
    approval: "pre-approved",
    run: (args) => {
      executed.push(args as object);
      return "noted";
    },
  });
  const events: RunEvent[] = [];
  const host = memoryHost({
    environment: { ...dialect.variables(server.url), ...environment },
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": worker(frontmatter.includes("toolsets:") ? frontmatter : `toolsets: { note: {} }\n${frontmatter}`),
      "/program/tools.ts": "export const note = 0;",
      ...files,
    },
    modules: { "/program/tools.ts": { note } },
  });
  const outcome = await run({
    target: "/program",
    input: "Begin.",
    model: dialect.model,
    approval: { mode: "reject_all" },
    trust: true,
    host: { ...host, clock: { ...host.clock, sleep: async () => undefined } },
    deltas: streaming,
    onEvent: (one) => events.push(one),
    ...request,
  }).then(
    (result) => ({ result, usage: result.usage, error: undefined }),
    (error: RunError) => ({ result: undefined, usage: error.run?.usage, error }),
  );
  return { ...outcome, executed, events, requests: server.requests };
}

/** Both forms of an answer that a row has. */
export function formsOf({ body, events }: Reply): boolean[] {
  return [...(body === undefined ? [] : [false]), ...(events === undefined ? [] : [true])];
}
