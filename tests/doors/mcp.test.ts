import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type ElicitRequest, type ElicitResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { bin, cleanEnvironment, runCli } from "../cli/run-cli.ts";
import { createDoorWorld, picture } from "./world.ts";

interface ConnectOptions {
  readonly args?: readonly string[];
  readonly era?: "2025" | "2026";
  readonly answer?: (params: ElicitRequest["params"]) => ElicitResult;
}

/** Connects the official client to the command. */
async function connect(folder: string, { args = [], era = "2026", answer }: ConnectOptions = {}) {
  const asked: string[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    {
      ...(answer ? { capabilities: { elicitation: { form: {} } } } : {}),
      ...(era === "2025" ? {} : { versionNegotiation: { mode: "auto" as const } }),
    },
  );
  if (answer)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return answer(params);
    });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp", folder, "--trust", ...args],
    env: cleanEnvironment(folder),
    stderr: "pipe",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (input: string, more: object = {}) => {
    const result = await client.callTool({ name: "desk", arguments: { input, ...more } });
    return { ...result, text: JSON.stringify(result.content) };
  };
  return { client, call, asked };
}

const approving = (): ElicitResult => ({ action: "accept", content: { answer: "approve" } });

test("workers are tools with their schemas, named after their program", async () => {
  const { client } = await connect((await createDoorWorld()).folder);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["desk", "Does small things."],
    ["sort", "Sorts."],
  ]);
  expect(tools[1]).toMatchObject({
    inputSchema: { properties: { message: { type: "string" } } },
    outputSchema: { properties: { kind: { enum: ["bug", "wish"] } } },
  });
});

test("what does not fit is an error of the tool, and an unknown tool one of the protocol", async () => {
  const { client } = await connect((await createDoorWorld()).folder);
  const wrong = await client.callTool({ name: "sort", arguments: { text: "x" } });
  expect(wrong).toMatchObject({ isError: true });
  expect(JSON.stringify(wrong.content)).toContain("the arguments do not fit `sort`: message: is missing");
  await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toThrow("nobody");
});

test("an output with a schema is structured content", async () => {
  const world = await createDoorWorld();
  const { client } = await connect(world.folder, { args: ["--worker", "sort"] });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["sort"]);
  const result = await client.callTool({ name: "sort", arguments: { message: "json please" } });
  expect(result).toMatchObject({ structuredContent: { kind: "bug" } });
});

test("without a person a call that asks is denied, and the result says which rule would allow it", async () => {
  const world = await createDoorWorld();
  const { call } = await connect(world.folder);
  const { text } = await call("write it");
  expect(text).toContain("not written: denied");
  expect(text).toContain("llm-do mcp --approve");
  expect(world.written()).toBeUndefined();
});

test.for(["2025", "2026"] as const)("--ask-client asks a client of %s with all that a person would see", async (era) => {
  const world = await createDoorWorld();
  const { call, asked } = await connect(world.folder, { args: ["--ask-client"], era, answer: approving });
  expect((await call("write it")).text).toContain("written");
  expect(world.written()).toBe("hello1");
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("Write 6 characters to out/a.txt");
  expect(asked[0]).toContain("| hello1");
});

const denials: readonly (readonly [string, ElicitResult])[] = [
  ["deny", { action: "accept", content: { answer: "deny", note: "not now" } }],
  ["decline", { action: "decline" }],
  ["cancel", { action: "cancel" }],
  ["another word", { action: "accept", content: { answer: "yes" } }],
  ["nothing", { action: "accept" }],
];

test("an answer that is no approval denies", async () => {
  const world = await createDoorWorld();
  const answers = denials.map(([, answer]) => answer);
  const answer = (): ElicitResult => answers.shift() ?? approving();
  const { call, asked } = await connect(world.folder, { args: ["--ask-client"], answer });
  for (const [name] of denials) {
    expect((await call("write it")).text, name).toContain("not written: denied");
    expect(world.written(), name).toBeUndefined();
  }
  expect(asked).toHaveLength(denials.length);
  expect((await call("write it")).text).toContain("written");
  expect(world.written()).toBe("hello1");
});

test("a client that cannot show forms is not asked", async () => {
  const world = await createDoorWorld();
  const { call } = await connect(world.folder, { args: ["--ask-client"] });
  expect((await call("write it")).text).toContain("not written: denied");
  expect(world.written()).toBeUndefined();
});

test("--hold suspends the run, and says how it is answered and goes on", async () => {
  const world = await createDoorWorld();
  const { call, client } = await connect(world.folder, { args: ["--hold"] });
  const { text, isError } = await call("write it");
  expect(isError).toBe(true);
  const [, run = ""] = /llm-do resume (\S+?)\\n/.exec(text) ?? [];
  await client.close();
  const options = { cwd: world.folder };
  expect(await runCli(["approve", run, "--all", "--yes"], options)).toMatchObject({ exitCode: 0 });
  expect(await runCli(["resume", run, "--trust"], options)).toMatchObject({ exitCode: 0, stdout: "written\n" });
  expect(world.written()).toBe("hello1");
});

test("a cancelled call ends its run", async () => {
  const { folder } = await createDoorWorld();
  const { client } = await connect(folder);
  const outcomes = async () => {
    const { runs } = JSON.parse((await runCli(["runs", "list", "--json"], { cwd: folder })).stdout);
    return (runs as readonly { readonly outcome: string }[]).map(({ outcome }) => outcome);
  };
  const controller = new AbortController();
  const called = client.callTool({ name: "desk", arguments: { input: "sleep now" } }, { signal: controller.signal });
  called.catch(() => undefined);
  while ((await outcomes()).length === 0);
  controller.abort(new Error("enough"));
  await expect(called).rejects.toThrow("enough");
  while ((await outcomes()).includes("unfinished"));
  expect(await outcomes()).toEqual(["aborted"]);
  const { text } = await client.callTool({ name: "desk", arguments: { input: "again" } }).then(({ content }) => ({
    text: JSON.stringify(content),
  }));
  expect(text).toContain("1 messages");
});

test("stdout is the protocol's alone, whatever tools print", async () => {
  const { call } = await connect((await createDoorWorld()).folder, { args: ["--approve-all"] });
  expect((await call("print it")).text).toContain("1 messages");
});

test("a picture goes in as an address of its data, and comes out as content and as a resource", async () => {
  const { client, call } = await connect((await createDoorWorld()).folder);
  expect((await call("look at it", { attachments: [`data:image/png;base64,${picture}`] })).text).toContain("image/png");
  const { content } = await call("draw it");
  expect(content).toMatchObject([{ type: "text", text: "drawn" }, { type: "image", data: picture }, { type: "resource_link" }]);
  const { resources } = await client.listResources();
  const read = await client.readResource({ uri: resources[0]?.uri ?? "" });
  expect(read.contents).toMatchObject([{ blob: picture }]);
  for (const uri of ["file:///etc/passwd", "llm-do://runs/x/dot.png", "llm-do://runs/../../etc/passwd"])
    await expect(client.readResource({ uri })).rejects.toThrow(/not found|no file/i);
});

test("progress tells what goes on", async () => {
  // A client forgets a call with its result: lines that arrive in one piece with that are lost. A question of 2025 comes before it.
  const { folder } = await createDoorWorld();
  const { client } = await connect(folder, { args: ["--ask-client"], era: "2025", answer: approving });
  const told: string[] = [];
  const onprogress = ({ message = "" }: { message?: string | undefined }) => void told.push(message);
  await client.callTool({ name: "desk", arguments: { input: "write it" } }, { onprogress });
  expect(told.some((line) => line.includes("write_file"))).toBe(true);
});

test("mistakes on the command line are told before anything is served", async () => {
  const world = await createDoorWorld();
  const options = { cwd: world.folder };
  const wrong = await runCli(["mcp", ".", "--trust", "--worker", "nobody"], options);
  expect(wrong).toMatchObject({ exitCode: 2, stdout: "" });
  expect(wrong.stderr).toContain("there are desk, sort");
  expect(await runCli(["mcp", "."], options)).toMatchObject({ exitCode: 2, stdout: "" });
  const both = await runCli(["mcp", ".", "--trust", "--hold", "--ask-client"], options);
  expect(both.stderr).toContain("leave one out");
});

test.for(["claude", "cursor", "vscode", "zed"])("--print-config %s prints JSON for the client", async (client) => {
  const { folder } = await createDoorWorld();
  const { stdout, stderr, exitCode } = await runCli(["mcp", "--print-config", client], { cwd: folder });
  expect(exitCode).toBe(0);
  expect(stderr).toContain(". is not trusted, so a client cannot start it with these lines: ");
  expect((await runCli(["mcp", "--trust", "--print-config", client], { cwd: folder })).stderr).toBe("");
  expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify([bin, "mcp", folder]));
  const empty = await runCli(["mcp", "--print-config", client, "nowhere"], { cwd: folder });
  expect(empty).toMatchObject({ exitCode: 2, stdout: "" });
  expect(empty.stderr).toContain("nowhere");
  for (const name of ["a.yaml", "b.yaml"]) writeFileSync(join(folder, name), "- reply: sorted\n");
  const script = await runCli(
    ["mcp", ".", "--model", "scripted:a.yaml", "--set=main.model=scripted:b.yaml", `--print-config=${client}`],
    {
      cwd: folder,
    },
  );
  expect(script.stdout).toContain(`"scripted:${folder}/a.yaml"`);
  expect(script.stdout).toContain(`"--set=main.model=scripted:${folder}/b.yaml"`);
  const words = ["--worker", "sort", ".", "--hold", `--print-config=${client}`];
  const kept = await runCli(["mcp", ...words], { cwd: folder });
  expect(JSON.stringify(JSON.parse(kept.stdout))).toContain(JSON.stringify([bin, "mcp", "--worker", "sort", folder, "--hold"]));
});
