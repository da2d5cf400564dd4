import { describe, expect, test } from "vitest";
import { type ApprovalPolicy, type CompileRequest, compile, type Program, type RunRequest, run, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { worker } from "./harness.ts";

const free = tool({ input: { type: "object" }, approval: "pre-approved", run: () => "ran" });

function createHost(files: Readonly<Record<string, string>> = {}): MemoryHost {
  return memoryHost({
    files: {
      "/program/main.worker": worker("toolsets: { free: {} }"),
      "/program/tools.ts": "export const free = 1;",
      ...files,
    },
    modules: { "/program/tools.ts": { free } },
  });
}

function createProvider() {
  const model = scriptedModel(
    ({ turn, toolResults }) => (turn === 1 ? { calls: [{ tool: "free", args: {} }] } : JSON.stringify(toolResults()[0]?.result)),
    "test:model",
  );
  return { name: "test", description: "for tests", keyVariables: [], create: async () => model };
}

async function compileIt(host: MemoryHost, more: Partial<CompileRequest> = {}) {
  const request = { target: "/program", model: "test:model", toRun: true, trust: true, ...more };
  return compile({ ...request, host, providers: [createProvider()] });
}

interface Running {
  readonly approval?: ApprovalPolicy;
  readonly more?: Partial<RunRequest>;
}

function runIt(program: Program | undefined, { approval = { mode: "reject_all" }, more = {} }: Running = {}) {
  if (!program) throw new Error("it does not compile");
  return run({ program, approval, input: "go", journal: false, ...more });
}

describe("a program that is compiled already", () => {
  test("runs as often as wanted, on the host and with the providers that it was compiled with; no file is read again", async () => {
    const host = createHost();
    const { program } = await compileIt(host);
    host.setFaults((operation, path) => (operation === "read" && path.startsWith("/program/") ? "EIO" : undefined));
    for (const _ of [1, 2]) expect((await runIt(program)).output).toContain('"ran"');
  });

  test("has to come from `compile`, and be compiled to run", async () => {
    const host = createHost();
    const { program } = await compileIt(host);
    const forged = { ...program } as Program;
    await expect(runIt(forged)).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringMatching(/compile/),
    });
    const { program: toLookAt } = await compileIt(host, { toRun: false });
    await expect(runIt(toLookAt)).rejects.toMatchObject({ message: expect.stringContaining("toRun: true") });
  });

  test("takes nothing that says how to compile it", async () => {
    const host = createHost();
    const { program } = await compileIt(host);
    const running = runIt(program, { more: { model: "test:other" } });
    await expect(running).rejects.toMatchObject({ code: "configuration", message: expect.stringContaining("`model`") });
  });

  test("needs the trust that it was compiled without", async () => {
    const host = createHost({
      "/program/main.worker": worker('toolsets: { filesystem: {} }\nsandbox: { paths: { all: { root: "/home/user" } } }'),
      "/home/user/a.txt": "a",
    });
    const { program } = await compileIt(host, { trust: false });
    await expect(runIt(program)).rejects.toMatchObject({
      ...{ name: "UntrustedProgram", root: "/program" },
      message: expect.stringContaining("`trust: true` allows it"),
    });
  });

  test("goes on with trust from what was read before", async () => {
    const host = createHost();
    const { program, untrusted, trust } = await compileIt(host, { trust: false });
    expect({ program, reasons: untrusted?.reasons }).toEqual({ program: undefined, reasons: ["runs code: tools.ts"] });
    host.put("/program/main.worker", worker("toolsets: { filesystem: {} }"));
    const trusted = await trust?.();
    expect(trusted?.trust).toBeUndefined();
    expect((await runIt(trusted?.program)).output).toContain('"ran"');
  });

  test("is bound by the rules of the run's policy, and not by its author's alone", async () => {
    const host = createHost();
    const { program } = await compileIt(host);
    const approval: ApprovalPolicy = { mode: "approve_all", rules: [{ effect: "block", rule: "free" }] };
    expect((await runIt(program, { approval })).output).toContain('"blocked"');
    const { program: ruled } = await compileIt(host, { rules: [{ effect: "block", rule: "free" }] });
    expect((await runIt(ruled, { approval: { mode: "approve_all" } })).output).toContain('"blocked"');
  });
});
