import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bin, runCli, startCli } from "../cli/run-cli.ts";
import { createDoorWorld, type DoorWorld, picture } from "./world.ts";

/*
 * Published clients by other authors, started as their users start them. The Inspector's command line declares no forms and cancels no call,
 * so a question and a cancel of MCP are played with the official client alone.
 */

const inspector = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const acpx = fileURLToPath(import.meta.resolve("acpx"));

/** Starts the Inspector's command line at a server that is configured with the lines of `--print-config`. */
async function inspect({ folder }: DoorWorld, ...args: readonly string[]) {
  const config = join(dirname(folder), "mcp.json");
  const printed = await runCli(["mcp", ".", "--trust", "--ask-client", "--print-config", "claude"], { cwd: folder });
  writeFileSync(config, printed.stdout);
  const words = ["--cli", "--config", config, "--server", "desk", "--quiet", "--format", "json", ...args];
  return startCli(words, { bin: inspector, cwd: folder, env: { MCP_INSPECTOR_SECRET_STORE: "memory" } });
}

async function resultOf(world: DoorWorld, ...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await (await inspect(world, ...args)).result;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return (JSON.parse(stdout) as { readonly result: object }).result;
}

const call = (tool: string, argument: string) => ["--method", "tools/call", "--tool-name", tool, "--tool-arg", argument];

test.for(["legacy", "modern"])("the Inspector of the %s era lists tools, and calls one with structured content", async (era) => {
  const world = await createDoorWorld();
  // `--strict` fails where a schema of a tool is one that some clients refuse.
  const listed = await resultOf(world, "--protocol-era", era, "--method", "tools/list", "--strict");
  expect(listed).toMatchObject({ tools: [{ name: "desk" }, { name: "sort", description: "Sorts." }] });
  const sorted = await resultOf(world, "--protocol-era", era, ...call("sort", "message=json please"));
  expect(sorted).toMatchObject({ structuredContent: { kind: "bug" } });
});

test("the Inspector shows a denied call, and a picture", async () => {
  const world = await createDoorWorld();
  expect(JSON.stringify(await resultOf(world, ...call("desk", "input=write it")))).toContain("not written: denied");
  expect(world.written()).toBeUndefined();
  expect(await resultOf(world, ...call("desk", "input=draw it"))).toMatchObject({
    content: [{ text: "drawn" }, { type: "image", mimeType: "image/png", data: picture }, { type: "resource_link", size: 70 }],
  });
});

/** Starts acpx. It keeps the state of its conversations in the home folder, and sockets in a folder of that one's digest. */
function talk({ folder }: DoorWorld, ...args: readonly string[]) {
  const digest = createHash("sha256")
    .update(join(dirname(folder), "home"))
    .digest("hex");
  onTestFinished(() => rmSync(`/tmp/acpx-${digest.slice(0, 10)}`, { recursive: true, force: true }));
  const agent = `${process.execPath} ${bin} acp ${folder} --trust`;
  return startCli(["--agent", agent, ...args], { bin: acpx, cwd: folder });
}

/** The messages of a conversation of acpx, of both sides. */
const messagesOf = (stdout: string): readonly object[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("acpx plays a question: it approves or denies", async () => {
  const world = await createDoorWorld();
  const denied = await talk(world, "--deny-all", "exec", "write it").result;
  expect(denied).toMatchObject({ exitCode: 5, stdout: expect.stringContaining("not written: denied") });
  expect(world.written()).toBeUndefined();
  const approved = await talk(world, "--approve-all", "exec", "write it").result;
  expect(approved).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("written\n") });
  expect(world.written()).toBe("hello1");
});

test("acpx gets a picture", async () => {
  const { stdout } = await talk(await createDoorWorld(), "--format", "json", "exec", "draw it").result;
  const content = { type: "image", mimeType: "image/png", data: picture };
  const update = { sessionUpdate: "agent_message_chunk", content };
  expect(messagesOf(stdout)).toContainEqual(expect.objectContaining({ params: expect.objectContaining({ update }) }));
});

test("acpx cancels a message of a conversation, which then goes on as it was", { timeout: 60_000 }, async () => {
  const world = await createDoorWorld();
  const options = ["--format", "json", "--ttl", "60"];
  await talk(world, "sessions", "new").result;
  try {
    await talk(world, ...options, "prompt", "hello").result;
    const sleeping = talk(world, ...options, "prompt", "sleep now");
    let said = "";
    await new Promise<void>((resolve) =>
      sleeping.child.stdout?.on("data", (text: string) => {
        said += text;
        if (said.includes("session/prompt")) resolve();
      }),
    );
    await talk(world, "cancel").result;
    expect(messagesOf((await sleeping.result).stdout).at(-1)).toMatchObject({ result: { stopReason: "cancelled" } });
    expect((await talk(world, "--format", "quiet", "prompt", "next").result).stdout).toBe("2 messages: next\n");
  } finally {
    await talk(world, "sessions", "close").result;
  }
});
