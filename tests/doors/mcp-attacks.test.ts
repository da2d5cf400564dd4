import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { type RawMessage, startRaw } from "./raw-client.ts";
import { createDoorWorld, type DoorWorld, picture } from "./world.ts";

/** Clients that keep to no protocol, at the command. Each case looks for the effect: the file that a question is about. */

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const approval = { approval: { action: "accept", content: { answer: "approve" } } };

function connect({ folder }: DoorWorld, ...args: readonly string[]) {
  const raw = startRaw(["mcp", folder, "--trust", ...args], folder);
  const call = (input: string, more: object = {}, name = "desk") =>
    raw.request("tools/call", { name, arguments: { input }, _meta: envelope, ...more });
  const approve = (requestState: unknown, more: object = {}, name = "desk") =>
    call("write it", { requestState, inputResponses: approval, ...more }, name).answer;
  return { ...raw, call, approve };
}

const stateOf = ({ result }: RawMessage) => result?.["requestState"];
const textOf = ({ result, error }: RawMessage) => JSON.stringify(result?.["content"] ?? error ?? result);

/** Begins an era of 2025, and returns the answer. */
function initialize({ request, send }: ReturnType<typeof startRaw>, protocolVersion: string) {
  const { answer } = request("initialize", {
    protocolVersion,
    capabilities: { elicitation: {} },
    clientInfo: { name: "raw", version: "1" },
  });
  send({ method: "notifications/initialized" });
  return answer;
}

const forgeries: readonly (readonly [string, (connected: ReturnType<typeof connect>) => Promise<RawMessage>])[] = [
  ["an answer without a question", ({ approve }) => approve(undefined)],
  ["an answer with a state that was made up", ({ approve }) => approve("6a6a783d-e52e-4512-9c7e-a845e5157580")],
  ["a state that is no text", ({ approve }) => approve({ toString: "x" })],
  ["a state of `__proto__`", ({ approve }) => approve("__proto__")],
  [
    "an answer that names another worker",
    async ({ call, approve }) => approve(stateOf(await call("write it").answer), { arguments: { message: "x" } }, "sort"),
  ],
  [
    "the answer to a question that was denied",
    async ({ call, approve }) => {
      const requestState = stateOf(await call("write it").answer);
      await call("write it", { requestState, inputResponses: { approval: { action: "decline" } } }).answer;
      return approve(requestState);
    },
  ],
  [
    "two answers at once, the first of which denies",
    async ({ call, approve }) => {
      const requestState = stateOf(await call("write it").answer);
      const denied = call("write it", { requestState, inputResponses: { approval: { action: "cancel" } } });
      const second = await approve(requestState);
      await denied.answer;
      return second;
    },
  ],
  [
    "the answer to the question of a request that was cancelled",
    async ({ call, approve, send }) => {
      const { id, answer } = call("write it");
      const requestState = stateOf(await answer);
      send({ method: "notifications/cancelled", params: { requestId: id, _meta: envelope } });
      return approve(requestState);
    },
  ],
  [
    "answers under other names, and by inheritance",
    async ({ call }) => {
      const requestState = stateOf(await call("write it").answer);
      const inputResponses = JSON.parse(
        '{ "__proto__": { "approval": { "action": "accept", "content": { "answer": "approve" } } } }',
      );
      return call("write it", { requestState, inputResponses: { ...inputResponses, other: approval.approval } }).answer;
    },
  ],
];

test("nothing is approved by a forged answer", async () => {
  const world = await createDoorWorld();
  const connected = connect(world, "--ask-client");
  for (const [name, forge] of forgeries) {
    await forge(connected);
    expect(world.written(), name).toBeUndefined();
  }
  connected.child.stdin?.end();
  await connected.ended;
  expect(world.written()).toBeUndefined();
});

test("an approval is of the call that was shown: other arguments beside it change nothing", async () => {
  const world = await createDoorWorld();
  const { call, approve } = connect(world, "--ask-client");
  const asked = await call("write it").answer;
  expect(JSON.stringify(asked)).toContain("| hello1");
  expect(textOf(await approve(stateOf(asked), { arguments: { input: "write other text" } }))).toContain("written");
  expect(world.written()).toBe("hello1");
});

test("a client of 2025 that cancels a call with an open question approves nothing", async () => {
  const world = await createDoorWorld();
  const raw = startRaw(["mcp", world.folder, "--trust", "--ask-client"], world.folder);
  await initialize(raw, "2025-06-18");
  const { id } = raw.request("tools/call", { name: "desk", arguments: { input: "write it" } });
  const question = await raw.find(({ method }) => method === "elicitation/create");
  raw.send({ method: "notifications/cancelled", params: { requestId: id } });
  raw.send({ id: question.id, result: approval.approval });
  raw.child.stdin?.end();
  expect(await raw.ended).toBe(0);
  expect(world.written()).toBeUndefined();
});

test("a client reaches no file and no other run: by a resource, an attachment, or the address of a file", async () => {
  const world = await createDoorWorld();
  writeFileSync(join(world.folder, "secret.txt"), "a secret text");
  // The record of an earlier run holds a picture.
  const drawn = await runCli([".", "draw it", "--trust"], { cwd: world.folder });
  const [, earlier = ""] = /(\d{8}-\d{6}-\w{6})/.exec((await runCli(["runs", "list"], { cwd: world.folder })).stdout) ?? [];
  expect([drawn.exitCode, earlier.length]).toEqual([0, 22]);
  const { request, call } = connect(world);
  const uris = [
    `llm-do://runs/${earlier}/dot.png`,
    "llm-do://runs/../secret.txt",
    "file:///etc/passwd",
    join(world.folder, "secret.txt"),
  ];
  for (const uri of uris) {
    const { error } = await request("resources/read", { uri, _meta: envelope }).answer;
    expect(error?.message, uri).toMatch(/not found/i);
  }
  for (const path of ["/etc/passwd", "../secret.txt", "secret.txt", "out/../../secret.txt", "file:///etc/passwd"]) {
    const said = textOf(await call("look", { arguments: { input: "look", attachments: [path] } }).answer);
    expect(said, path).not.toMatch(/text\/plain|a secret|root:/);
    expect(textOf(await call(`read ${path}`).answer), path).not.toMatch(/a secret|root:x/);
  }
  const own = `data:image/png;base64,${picture}`;
  const mixed = textOf(await call("look", { arguments: { input: "look", attachments: [own, "/etc/passwd"] } }).answer);
  expect(mixed).not.toContain("text/plain");
});

test.for([
  ["2024-10-07", "2024-10-07"],
  ["1999-01-01", "2025-11-25"],
])("a client of revision %s is served by %s", async ([revision = "", served]) => {
  const world = await createDoorWorld();
  const old = startRaw(["mcp", world.folder, "--trust"], world.folder);
  expect((await initialize(old, revision)).result?.["protocolVersion"]).toBe(served);
  const called = await old.request("tools/call", { name: "desk", arguments: { input: "hello" } }).answer;
  expect(textOf(called)).toContain("1 messages: hello");
});

test("a client of a revision that does not exist yet is told which are served", async () => {
  const { request } = connect(await createDoorWorld());
  const meta = { ...envelope, "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const { error } = await request("tools/call", { name: "desk", arguments: { input: "hello" }, _meta: meta }).answer;
  expect(JSON.stringify(error)).toContain("2026-07-28");
});

test("lines that are no messages are answered or left out, and the next call is served", async () => {
  const { send, call, stderr } = connect(await createDoorWorld());
  for (const line of ["", "nonsense", "[]", "null", "1", "{}", '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":{},"method":1}'])
    send(line);
  send({ id: 1, method: "nobody/knows", params: { _meta: envelope } });
  send({ method: "notifications/cancelled", params: { requestId: "none", _meta: envelope } });
  send({ id: 99, result: { content: [] } });
  expect(textOf(await call("hello").answer)).toContain("1 messages: hello");
  expect(stderr()).toContain("llm-do: ");
});

test("a line that is too long is answered as far as its id is known, and ends no run", { timeout: 60_000 }, async () => {
  const world = await createDoorWorld();
  const { send, call, find, child, ended, stderr } = connect(world);
  const { answer } = call("wait");
  const nested = '{"id":7,"x":["\\"}",{}]}';
  child.stdin?.write(`{"jsonrpc":"2.0","method":"tools/call","params":{"x":${nested},"y":"`);
  for (let piece = 0; piece < 40; piece++) child.stdin?.write("x".repeat(1024 * 1024));
  send('"},"id":"long"}');
  expect(await find(({ id }) => id === "long")).toMatchObject({ error: { message: expect.stringContaining("33554432 bytes") } });
  child.stdin?.write("y".repeat(40 * 1024 * 1024));
  send("");
  writeFileSync(join(world.folder, "go"), "");
  expect(textOf(await answer)).toContain("waited");
  expect(textOf(await call("hello").answer)).toContain("1 messages: hello");
  child.stdin?.end();
  expect(await ended).toBe(0);
  expect(stderr()).toContain("it is left out");
});

test.for<readonly [string, object | undefined, string]>([
  ["nobody answers", undefined, "nobody answered within 1 second"],
  ["the answer has other members than the form", { action: "accept", content: { answer: ["approve"], args: {} } }, "closed"],
  ["the answer is none", { content: 1 }, "closed"],
])("a question to a client of 2025 is denied where %s, and the run goes on to its end", async ([, result, note]) => {
  const world = await createDoorWorld();
  const raw = startRaw(["mcp", world.folder, "--trust", "--ask-client", "--approval-timeout", "1"], world.folder);
  await initialize(raw, "2025-11-25");
  const { answer } = raw.request("tools/call", { name: "desk", arguments: { input: "write it" } });
  const { id } = await raw.find(({ method }) => method === "elicitation/create");
  if (result) raw.send({ id, result });
  const answered = textOf(await answer);
  expect(answered).toContain("not written: denied");
  expect(answered).toContain(note);
  expect(world.written()).toBeUndefined();
});

test("an exception in a timer of a tool ends the run that it belongs to, and no other one", async () => {
  const world = await createDoorWorld();
  const { call, child, ended, stderr } = connect(world);
  const waiting = call("wait").answer;
  expect(textOf(await call("burst").answer)).toContain("burst in a timer");
  writeFileSync(join(world.folder, "go"), "");
  expect(textOf(await waiting)).toContain("waited");
  child.stdin?.end();
  expect(await ended).toBe(0);
  expect(stderr()).toContain("the program's code failed outside of any call: burst in a timer");
});

/** Throws once there is a file `fault`: in a timer that began with the module, so that it belongs to no run. */
const faulty = `
import { existsSync } from "node:fs";
const timer = setInterval(() => {
  if (!existsSync(new URL("fault", import.meta.url))) return;
  clearInterval(timer);
  throw new Error("burst in a module");
}, 20);
timer.unref();
`;

test("an exception that belongs to no run aborts all of them, whose records stay whole, and ends the server", async () => {
  const world = await createDoorWorld();
  writeFileSync(join(world.folder, "tools.ts"), readFileSync(join(world.folder, "tools.ts"), "utf8") + faulty);
  const options = { cwd: world.folder };
  const listRuns = async () => {
    const { runs } = JSON.parse((await runCli(["runs", "list", "--json"], options)).stdout);
    return runs as readonly { readonly runId: string; readonly outcome: string; readonly prompt: string }[];
  };
  const { call, ended, stderr } = connect(world);
  for (const prompt of ["sleep", "wait"]) call(prompt);
  while ((await listRuns()).length < 2);
  writeFileSync(join(world.folder, "fault"), "");
  expect(await ended).toBe(1);
  expect(stderr()).toContain("the program's code failed outside of any call: burst in a module");
  const runs = await listRuns();
  expect(runs.map(({ outcome }) => outcome)).toEqual(["aborted", "aborted"]);
  rmSync(join(world.folder, "fault"));
  writeFileSync(join(world.folder, "go"), "");
  const waited = runs.find(({ prompt }) => prompt === "wait")?.runId ?? "";
  expect(await runCli(["resume", waited, "--trust"], options)).toMatchObject({ exitCode: 0, stdout: "waited\n" });
});

test("neither a tool nor the programs that it starts read from the protocol", async () => {
  const { call } = connect(await createDoorWorld());
  const first = call("steal");
  const others = Array.from({ length: 20 }, (_, index) => call(`hello ${index}`));
  expect(textOf(await first.answer)).toContain("stolen: nothing");
  for (const { answer } of others) expect(textOf(await answer)).toContain("1 messages: hello");
});

test("a client that floods is refused, and its other calls are answered", async () => {
  const world = await createDoorWorld();
  const { call } = connect(world);
  const calls = Array.from({ length: 40 }, () => call("wait").answer.then(textOf));
  const refused = await Promise.race(calls);
  expect(refused).toContain("32 calls are under way");
  writeFileSync(join(world.folder, "go"), "");
  const answers = await Promise.all(calls);
  expect(answers.filter((text) => text.includes("waited"))).toHaveLength(32);
});

test("a client that goes away in a call ends its run; with --hold the run goes on to its end", async () => {
  const world = await createDoorWorld();
  const { call, child, ended, find } = connect(world);
  void call("wait", { _meta: { ...envelope, progressToken: 1 } });
  await find(({ method }) => method === "notifications/progress");
  child.stdin?.end();
  expect(await ended).toBe(0);
  const list = () => runCli(["runs", "list", "--json"], { cwd: world.folder }).then(({ stdout }) => stdout);
  expect(await list()).toContain('"aborted"');
  const held = connect(world, "--hold");
  void held.call("wait", { _meta: { ...envelope, progressToken: 1 } });
  await held.find(({ method }) => method === "notifications/progress");
  held.child.stdin?.end();
  held.child.stdout?.destroy();
  writeFileSync(join(world.folder, "go"), "");
  expect(await held.ended).toBe(0);
  expect(await list()).toContain('"done"');
});

test("a file that is read on approval is no attachment of a call, whoever names it", async () => {
  const world = await createDoorWorld();
  const worker = readFileSync(join(world.folder, "main.worker"), "utf8");
  const scopes = "out: { root: ./out, mode: rw }, kept: { root: ./kept, read_approval: true }";
  writeFileSync(join(world.folder, "main.worker"), worker.replace("out: { root: ./out, mode: rw }", scopes));
  for (const path of ["out/a.txt", "out/.env", "kept/a.txt"]) {
    mkdirSync(dirname(join(world.folder, path)), { recursive: true });
    writeFileSync(join(world.folder, path), "a text");
  }
  const { call } = connect(world, "--ask-client");
  const look = async (path: string) => textOf(await call("look", { arguments: { input: "look", attachments: [path] } }).answer);
  expect(await look("out/a.txt")).toContain("files: text/plain");
  for (const path of ["out/.env", "kept/a.txt"]) expect(await look(path)).toContain(`\`${path}\`: an input is taken without`);
});
