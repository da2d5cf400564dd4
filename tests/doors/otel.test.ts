import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as names from "@opentelemetry/semantic-conventions/incubating";
import { expect, onTestFinished, test } from "vitest";
import { bin, cleanEnvironment, runCli, writeProgram } from "../cli/run-cli.ts";
import { createDoorWorld } from "./world.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

/** An OTLP receiver on this machine. */
async function receive() {
  const spans: Span[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { resourceSpans } = JSON.parse(Buffer.concat(pieces).toString()) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    };
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { spans, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const textOf = ({ attributes }: Span, key: string) => attributes.find((one) => one.key === key)?.value.stringValue;

test("a run is a tree of spans by the conventions, below the caller's span, and holds no contents", async () => {
  const { spans, address } = await receive();
  const world = await createDoorWorld();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: address,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    TRACEPARENT: caller,
  };
  const args = [".", "write it", "--trust", "--approve-all", "-q", "--otel"];
  expect(await runCli(args, { cwd: world.folder, env })).toMatchObject({ exitCode: 0, stdout: "written\n" });
  expect(spans.map(({ name }) => name).sort()).toEqual([
    "chat model.mjs",
    "chat model.mjs",
    "execute_tool write_file",
    "invoke_agent main",
  ]);
  const [agent] = spans.filter(({ name }) => name === "invoke_agent main");
  expect(agent).toMatchObject({ traceId: "0af7651916cd43dd8448eb211c80319c", parentSpanId: "b7ad6b7169203331" });
  for (const span of spans) if (span !== agent) expect(span.parentSpanId).toBe(agent?.spanId);
  expectConventional(spans);
  expect(JSON.stringify(spans)).not.toContain("hello");
});

/** The registry of attributes of the conventions. */
const registry = new Set(Object.entries(names).flatMap(([name, key]) => (name.startsWith("ATTR_") ? [String(key)] : [])));

const ofRequest = [names.ATTR_GEN_AI_PROVIDER_NAME, names.ATTR_GEN_AI_REQUEST_MODEL];
const tokens = [names.ATTR_GEN_AI_USAGE_INPUT_TOKENS, names.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS];

/** The attributes that the conventions ask for, by operation: those that are required, and those that are recommended and known here. */
const asked = new Map<string | undefined, readonly string[]>([
  [names.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT, [...ofRequest, ...tokens, names.ATTR_GEN_AI_AGENT_NAME]],
  [names.GEN_AI_OPERATION_NAME_VALUE_CHAT, [...ofRequest, ...tokens, names.ATTR_GEN_AI_RESPONSE_FINISH_REASONS]],
  [
    names.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
    [names.ATTR_GEN_AI_TOOL_NAME, names.ATTR_GEN_AI_TOOL_CALL_ID, names.ATTR_GEN_AI_TOOL_TYPE],
  ],
]);

function expectConventional(spans: readonly Span[]): void {
  for (const span of spans) {
    const keys = span.attributes.map(({ key }) => key);
    const operation = textOf(span, names.ATTR_GEN_AI_OPERATION_NAME);
    expect(keys).toEqual(expect.arrayContaining([...(asked.get(operation) ?? ["a known operation"])]));
    expect(keys.filter((key) => !registry.has(key) && !key.startsWith("llm_do."))).toEqual([]);
  }
}

const moduleOf = (path: string) => pathToFileURL(join(import.meta.dirname, "../..", path)).href;

test("contents are on the spans where code asks for them, without the values of secrets", async () => {
  const { spans, address } = await receive();
  const { folder } = await createDoorWorld();
  writeFileSync(
    join(folder, "traced.mjs"),
    `import { NodeSDK } from "${import.meta.resolve("@opentelemetry/sdk-node")}";
import { run } from "${moduleOf("dist/index.js")}";
import { createTelemetry } from "${moduleOf("dist/otel/index.js")}";
const sdk = new NodeSDK();
sdk.start();
const approval = { mode: "approve_all" };
for (const input of ["write it", "the key is " + process.env.DESK_API_KEY])
  await run({ target: ".", input, approval, trust: true, ...createTelemetry({ contents: true }) });
await sdk.shutdown();
`,
  );
  const secret = "k9-hidden-4711-value";
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", DESK_API_KEY: secret };
  const traced = await runCli([], { bin: join(folder, "traced.mjs"), cwd: folder, env });
  expect(traced).toMatchObject({ exitCode: 0, stderr: "" });
  expectConventional(spans);
  const all = JSON.stringify(spans);
  for (const text of ["write it", "hello1", "written", "the key is ⟦secret:"]) expect(all).toContain(text);
  expect(all).not.toContain(secret);
});

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const library = pathToFileURL(join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/server/dist/")).href;

/** A server that answers with the `_meta` of the request, and a worker that calls it. */
function writeMcpProgram(): Promise<string> {
  return writeProgram({
    "server.mjs": `import { McpServer } from "${library}index.mjs";
import { serveStdio } from "${library}stdio.mjs";
serveStdio(() => {
  const server = new McpServer({ name: "echo", version: "1" });
  server.registerTool("meta", { description: "Tells." }, (context) => ({
    content: [{ type: "text", text: JSON.stringify(context.mcpReq._meta ?? {}) }],
  }));
  return server;
});
`,
    "llm-do.yaml": `mcp_servers: { echo: { command: "${process.execPath}", args: [server.mjs], isolated: false } }\n`,
    "main.worker": "---\nmodel: scripted:model.mjs\ntoolsets: { mcp: { servers: [echo] } }\n---\nAsk.\n",
    "model.mjs":
      'export default ({ turn, toolResults }) => (turn === 1 ? { calls: [{ tool: "echo__meta", args: {} }] } : JSON.stringify(toolResults().at(-1).result.value));\n',
  });
}

test("the context of a call passes to an MCP server, with the state of the caller's trace", async () => {
  const { spans, address } = await receive();
  const cwd = await writeMcpProgram();
  const args = [".", "go", "--trust", "--approve-all", "-q"];
  const untraced = await runCli(args, { cwd });
  expect(untraced).toMatchObject({ exitCode: 0, stderr: "" });
  expect(untraced.stdout).not.toContain("traceparent");
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
  const { stdout } = await runCli([...args, "--otel"], { cwd, env: { ...env, TRACEPARENT: caller, TRACESTATE: "vendor=1" } });
  const tool = spans.find(({ name }) => name === "execute_tool echo__meta");
  expect(stdout.replaceAll("\\", "")).toContain(`"traceparent":"00-${tool?.traceId}-${tool?.spanId}-01","tracestate":"vendor=1"`);
  expect(tool?.traceId).toBe("0af7651916cd43dd8448eb211c80319c");
});

test("the context of a client's call passes into the run that it begins, and a run that goes on has spans, too", async () => {
  const { spans, address } = await receive();
  const { folder } = await createDoorWorld();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
  const client = new Client({ name: "test", version: "1" });
  const args = [bin, "mcp", folder, "--trust", "--otel", "--hold"];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { ...cleanEnvironment(folder), ...env }, stderr: "pipe" }),
  );
  const { content } = await client.callTool({ name: "desk", arguments: { input: "write it" }, _meta: { traceparent: caller } });
  await client.close();
  const agent = spans.find(({ name }) => name === "invoke_agent main");
  expect(agent).toMatchObject({ traceId: "0af7651916cd43dd8448eb211c80319c", parentSpanId: "b7ad6b7169203331" });
  spans.length = 0;
  const [, run = ""] = /llm-do resume (\S+?)\\n/.exec(JSON.stringify(content)) ?? [];
  await runCli(["resume", run, "--trust", "--approve-all", "--otel"], { cwd: folder, env });
  expect(spans.map(({ name }) => name).sort()).toEqual(["chat model.mjs", "execute_tool write_file", "invoke_agent main"]);
});

test("what is denied is an event, and what failed has its error", async () => {
  const { spans, address } = await receive();
  const world = await createDoorWorld();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
  await runCli([".", "write it", "--trust", "--reject-all", "-q", "--otel"], { cwd: world.folder, env });
  const tool = spans.find(({ name }) => name === "execute_tool write_file");
  expect(tool?.status.code).toBe(2);
  expect(tool && textOf(tool, "error.type")).toBe("denied");
});

test("an exporter that is down is told, and ends no run; without an address there is an error", async () => {
  const world = await createDoorWorld();
  const args = [".", "hello", "--trust", "--otel"];
  const down = await runCli(args, { cwd: world.folder, env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" } });
  expect(down).toMatchObject({ exitCode: 0, stdout: "1 messages: hello\n" });
  expect(down.stderr.match(/--otel:/g)).toHaveLength(1);
  const unset = await runCli(args, { cwd: world.folder });
  expect(unset).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unset.stderr).toContain("OTEL_EXPORTER_OTLP_ENDPOINT");
});
