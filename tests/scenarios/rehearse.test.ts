import { expect, test } from "vitest";
import { rehearse } from "../../src/front/llm-do.ts";
import { type ApprovalPolicy, type RunRequest, run, tool } from "../../src/index.ts";
import { scriptedProvider } from "../../src/models/scripted/scripted-provider.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { memoryHost, scriptedModel } from "../../src/testing/index.ts";
import { readJournal, runsIn } from "../records.ts";
import { worker } from "./harness.ts";

interface Rehearsal {
  readonly files: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly request?: Partial<RunRequest>;
  readonly approval?: ApprovalPolicy;
}

function prepare({ files, tools = {}, request = {}, approval = { mode: "approve_all" } }: Rehearsal) {
  const sources = Object.entries(files).map(([name, text]) => [`/program/${name}`, text] as const);
  const host = memoryHost({ files: Object.fromEntries(sources), modules: { "/program/tools.ts": { ...tools } } });
  let requests = 0;
  const model = scriptedModel(() => {
    requests++;
    return "done";
  }, "test:model");
  const { serverTools = {} } = scriptedProvider;
  const provider = { name: "test", description: "for tests", keyVariables: [], serverTools, create: async () => model };
  const full: RunRequest = {
    target: "/program",
    host,
    model: "test:model",
    trust: true,
    providers: [provider],
    approval,
    ...request,
  };
  return { host, full, requests: () => requests };
}

/** Returns the recorded first request of a run. */
async function sentFirst({ host, full }: ReturnType<typeof prepare>): Promise<JsonObject | undefined> {
  await run(full);
  const [id = ""] = await host.files.names(runsIn("/program"));
  const { entries } = await readJournal(host, `${runsIn("/program")}/${id}`);
  return entries.flatMap((entry) => (entry.type === "intent" && entry.kind === "model" ? [entry.detail] : []))[0];
}

const search = "server_side_tools: [{ tool_type: web_search, max_uses: 3 }]";

test.each<[string, Rehearsal]>([
  [
    "fragments and toolsets",
    { files: { "main.worker": worker("toolsets: { filesystem: { _prefix: fs } }") }, request: { input: "a", fragments: ["b"] } },
  ],
  ["tools of the provider that are approved", { files: { "main.worker": worker(search) }, request: { input: "a" } }],
  [
    "tools of the provider that a rule blocks",
    {
      files: { "main.worker": worker(search) },
      request: { input: "a" },
      approval: { mode: "approve_all", rules: [{ effect: "block", rule: "server:web_search" }] },
    },
  ],
  [
    "the manifest's input",
    { files: { "main.worker": worker("", "Do {{ input }}."), "llm-do.yaml": "args: { input: from the manifest }\n" } },
  ],
])("a rehearsal gives the request that a run sends first: %s", async (_, rehearsal) => {
  const prepared = prepare(rehearsal);
  const { request } = await rehearse(prepared.full);
  expect(prepared.requests()).toBe(0);
  // The reserve of a request depends on the account, which a rehearsal does not have.
  const { messages, reserved: __, ...sent } = (await sentFirst(prepared)) ?? {};
  expect({
    turn: 1,
    model: request?.model,
    system: request?.system,
    tools: request?.tools,
    ...(request?.serverTools ? { serverTools: request.serverTools } : {}),
  }).toEqual(sent);
  expect(messages).toEqual([{ role: "user", parts: request?.user.map((text) => ({ type: "text", text })) }]);
});

test("a rehearsal writes nothing and makes no folder, and reads the attachments that the input names", async () => {
  const { host, full } = prepare({
    files: {
      "main.worker": worker(`toolsets: { filesystem: {} }
sandbox: { paths: { notes: { root: notes, mode: ro }, out: { root: out, mode: rw } } }
input: { deck: attachment }`),
      "notes/deck.txt": "slides",
    },
    request: { input: { deck: "notes/deck.txt" } },
  });
  const before = host.snapshot("/");
  const { input, request } = await rehearse(full);
  expect(input).toEqual({ deck: "notes/deck.txt" });
  expect(request?.attachments).toEqual([{ name: "notes/deck.txt", mediaType: "text/plain", bytes: 6 }]);
  expect(host.snapshot("/")).toEqual(before);
});

test("a rehearsal takes a question for granted, asks nobody, and emits no event", async () => {
  const unheard = () => expect.unreachable();
  const approval: ApprovalPolicy = { mode: "prompt", approver: unheard };
  const { full } = prepare({
    files: { "main.worker": worker(search) },
    request: { input: "a", onEvent: unheard, onMessage: unheard },
    approval,
  });
  expect((await rehearse(full)).request?.serverTools).toMatchObject([{ type: "web_search" }]);
});

test("code that starts a run is given its checked input, and is not entered", async () => {
  let entered = 0;
  const main = tool({
    input: { type: "object", properties: { count: { type: "integer", default: 1 } } },
    run: () => entered++,
  });
  const files = { "tools.ts": "export const main = 1;\n", "helper.worker": worker("description: Helps.") };
  const { full } = prepare({ files, tools: { main }, request: { entry: "tools.ts:main", input: {} } });
  expect(await rehearse(full)).toEqual({ entry: "main", input: { count: 1 } });
  const wrong = rehearse({ ...full, input: { count: "x" } });
  await expect(wrong).rejects.toMatchObject({ code: "input_invalid" });
  expect(entered).toBe(0);
});

test("a rehearsal rejects as the run does", async () => {
  const { full } = prepare({ files: { "main.worker": worker("limits: { usd: 1 }") }, request: { input: "a" } });
  const failure = async (attempt: Promise<unknown>) =>
    attempt.then(
      () => expect.unreachable(),
      ({ code, message }) => ({ code, message }),
    );
  expect(await failure(rehearse(full))).toEqual(await failure(run(full)));
});
