import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExecutorFigures, serveHealth } from "../../src/cli/executor/serve-health.ts";
import { cleanEnvironment, type RunningCli, runCli, startCli } from "../cli/run-cli.ts";
import { hasPostgres, useCluster } from "./cluster.ts";
import { desk, storeKey } from "./machines.ts";

const worker = (toolsets: string) => `---\nmodel: scripted:model.mjs\ninput: { input?: string }\n${toolsets}---\nDo it.\n`;

const programs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  desk,
  /** Returns the files that it got as one file. */
  copier: {
    "llm-do.yaml": "name: copier\n",
    "main.worker": worker("").replace("{ input?: string }", "{ input?: string, files?(array): attachment }"),
    "model.mjs": `export default (request) => ({
  text: "copied",
  files: [{ name: "all.txt", mediaType: "text/plain", text: request.files().map((file) => file.name + ":" + Buffer.from(file.bytes).toString()).join("\\n") }],
});
`,
  },
  /** Notes each run. The run \`first\` waits for a file. */
  order: {
    "llm-do.yaml": "name: order\n",
    "main.worker": worker("toolsets: { note: {} }\n"),
    "model.mjs": `export default (request) =>
  request.toolResults().length > 0 ? "noted" : { calls: [{ tool: "note", args: { text: request.lastUserText() } }] };
`,
    "tools.ts": `import { appendFileSync, existsSync } from "node:fs";
import { tool } from "llm-do";
const at = (name: string) => new URL("./" + name, import.meta.url);
export const note = tool({ input: { type: "object", properties: { text: { type: "string" } } }, approval: "pre-approved", run: async ({ text }) => {
  appendFileSync(at("ledger.txt"), text + "\\n");
  while (text === "first" && !existsSync(at("go"))) await new Promise((resolve) => setTimeout(resolve, 20));
  return "ok";
} });
`,
  },
};

const page = join(import.meta.dirname, "../../docs/deploy.md");

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
}

// One executor with one slot serves all cases.
describe.skipIf(!hasPostgres)("an executor (skipped where PostgreSQL is not installed)", { timeout: 120_000 }, () => {
  const cluster = useCluster();
  const posts: Post[] = [];
  let folder = "";
  let server: Server;
  let executor: RunningCli;
  let env: Readonly<Record<string, string>> = {};
  let port = 0;
  const cli = (...args: readonly string[]) => runCli(args, { cwd: folder, env });
  const accepted = () => posts.filter(({ status }) => status === 200).map(({ body }) => body);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };

  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "llm-do-executor-")), "programs");
    for (const [name, files] of Object.entries(programs))
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name, path)), { recursive: true });
        await writeFile(join(folder, name, path), text);
      }
    server = createServer(async (request, response) => {
      const body = (await request.toArray()).join("");
      const status = posts.length === 0 ? 500 : 200;
      posts.push({ headers: request.headers, body, status });
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const config = join(cleanEnvironment(folder)["HOME"] ?? "", "config");
    await mkdir(config, { recursive: true });
    await writeFile(join(config, "config.yaml"), `hooks: { question: "${url}", end: "${url}" }\n`);
    const variables = { LLM_DO_STORE: await cluster.create(), LLM_DO_STORE_KEY: storeKey };
    env = { ...variables, LLM_DO_CONFIG_DIR: config, LLM_DO_HOOK_KEY: "hook-key" };
    // The command line of the page, on a free port.
    const [, words = ""] = /^ExecStart=\S+ (.*)$/m.exec(await readFile(page, "utf8")) ?? [];
    const line = words.replace("/srv/programs", folder).replace("8080", "0").split(" ");
    executor = startCli([...line, "--grace", "1", "--concurrency", "1"], { cwd: folder, env });
    await executor.stderrHolds("llm-do: executes ");
    port = Number(/on port (\d+)/.exec(executor.stderrSoFar())?.[1]);
  }, 120_000);

  afterAll(async () => {
    executor.child.kill("SIGTERM");
    const { stderr, exitCode } = await executor.result;
    server.close();
    await rm(dirname(folder), { recursive: true, force: true });
    expect([exitCode, stderr]).toEqual([143, expect.not.stringContaining("hook-key")]);
  }, 60_000);

  test("serves its health and its figures on the port that it names", async () => {
    expect(await get("/healthz")).toMatchObject({ status: 200, text: "ok\n" });
    const { type, text } = await get("/metrics");
    expect(type).toBe("text/plain; version=0.0.4");
    expect(text.split("\n").filter((line) => !/^(?:#.*|[a-z_]+(?:\{state="\w+"\})? \d+|)$/.test(line))).toEqual([]);
    expect((await get("/runs")).status).toBe(404);
    const second = await cli("executor", "--programs", ".", "--trust", "--port", String(port));
    expect(second).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`--port ${port}: `) });
    const silent: ExecutorFigures = { executing: 0, ended: new Map(), seen: performance.now() - 31_000 };
    expect((await fetch(`http://127.0.0.1:${await serveHealth(0, silent)}/healthz`)).status).toBe(503);
  });

  test("posts a hook for each rest of a run once, signed, and again where it was refused", async () => {
    const { exitCode, stderr } = await cli("submit", "desk", "go", "--wait");
    const [, id = ""] = /submitted (\S+)/.exec(stderr) ?? [];
    expect(exitCode, stderr).toBe(4);
    expect(stderr).toContain("go on:   an executor\n");
    // Who answers before the next sweep is not told that something waits.
    await expect.poll(() => posts.length, { timeout: 60_000 }).toBeGreaterThan(0);
    const approved = await cli("approve", id, "desk", "--all", "--yes");
    expect(approved).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("llm-do: an executor goes on with the run") });
    await executor.stderrHolds(`${id}: done`);
    await expect.poll(accepted, { timeout: 60_000 }).toHaveLength(2);
    expect(accepted().map((body) => JSON.parse(body))).toContainEqual({
      v: 1,
      event: "end",
      run: id,
      program: "desk",
      queue: "default",
      state: "done",
    });
    const [refused] = posts;
    const again = posts.filter(({ headers }) => headers["llm-do-id"] === refused?.headers["llm-do-id"]);
    expect(again.map(({ status }) => status)).toEqual([500, 200]);
    for (const { headers, body } of posts) {
      const [, time = "", signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers["llm-do-signature"])) ?? [];
      expect(signature).toBe(createHmac("sha256", "hook-key").update(`${time}.${body}`).digest("hex"));
    }
    const { text } = await get("/metrics");
    expect(text).toMatch(/^llm_do_runs_executing 0$/m);
    for (const state of ["suspended", "done"]) expect(text).toContain(`llm_do_runs_ended_total{state="${state}"} 1\n`);
  });

  test("gives a waited-for run its files, and its caller those that the run made", async () => {
    await writeFile(join(folder, "a.txt"), "one");
    await writeFile(join(folder, "b.txt"), "two");
    await mkdir(join(folder, "results"));
    const line = ["submit", "copier", "go", "--wait", "-a", "a.txt", "-a", "b.txt"];
    expect(await cli(...line, "-o", "results")).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(join(folder, "results/result.txt"), "utf8")).toBe("copied\n");
    expect(await readFile(join(folder, "results/artifacts/all.txt"), "utf8")).toBe("a.txt:one\nb.txt:two");
    const json = JSON.parse((await cli(...line, "--json")).stdout);
    expect(json).toMatchObject({ output: "copied", artifacts: [{ name: "all.txt", bytes: 19 }] });
    expect(await cli("submit", "copier", "go", "-a", "none.txt")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("none.txt"),
    });
  });

  test("executes by priority, and nothing before its time", async () => {
    const ledger = () => readFile(join(folder, "order/ledger.txt"), "utf8").catch(() => "");
    const submit = async (...args: readonly string[]) => (await cli("submit", "order", ...args)).stdout.trim();
    await submit("first");
    await expect.poll(ledger, { timeout: 30_000 }).toBe("first\n");
    await Promise.all([submit("low"), submit("middle", "--priority", "1"), submit("high", "--priority", "5")]);
    await writeFile(join(folder, "order/go"), "");
    await expect.poll(ledger, { timeout: 60_000 }).toBe("first\nhigh\nmiddle\nlow\n");
    const at = new Date(Date.now() + 4000);
    const later = await submit("later", "--at", at.toISOString());
    const never = await submit("never", "--at", "2099-01-31T08:00Z");
    const { runs } = JSON.parse((await cli("runs", "list", "--json")).stdout);
    expect(runs.find(({ runId }: { readonly runId: string }) => runId === never)).toMatchObject({
      outcome: "waits",
      summary: "waits until 2099-01-31 08:00 UTC",
    });
    await executor.stderrHolds(`${later}: done`);
    const [entry = ""] = (await cli("runs", "show", later, "--json")).stdout.split("\n");
    expect(JSON.parse(entry).time).toBeGreaterThanOrEqual(at.getTime());
    expect(await cli("submit", "order", "x", "--at", "soon")).toMatchObject({ exitCode: 2 });
  });

  test("posted each rest once", async () => {
    // Of `desk` two, of `copier` two, of `order` five.
    await expect.poll(accepted, { timeout: 30_000 }).toHaveLength(9);
    expect(new Set(accepted()).size).toBe(9);
  });
});
