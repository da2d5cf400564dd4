import { describe, expect, test } from "vitest";
import { type ApprovalPolicy, type ApprovalRequest, judgeCalls, RunError } from "../../src/index.ts";
import type { ToolResultPart } from "../../src/protocol/message.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { renderJournal } from "../../src/ui/records/render-journal.ts";
import { play, worker } from "./harness.ts";

const isolation = { type: "none", why: "bubblewrap is not installed" } as const;
const commands = { curl: (_: readonly string[], { network }: { readonly network: boolean }) => `network: ${network}` };
const curl = { calls: [{ tool: "shell", args: { command: "curl https://example.org" } }] };
const online = { calls: [{ tool: "shell", args: { command: "curl https://example.org", network: true } }] };

/** One call of `curl` that asks for the network; gives what it printed or why it was refused, and what a person was asked. */
async function callCurl(sandbox: string, more: { readonly files?: Record<string, string> } = {}) {
  const asked: ApprovalRequest[] = [];
  const { result, error } = await play({
    files: { "main.worker": worker(`${sandbox}\ntoolsets: { shell: { rules: [{ pattern: curl }] } }`), ...more.files },
    machine: { commands },
    model: ({ turn, toolResults }) => (turn === 1 ? online : stdoutOf(toolResults()) || "nothing"),
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "approve" };
      },
    },
    request: { input: "x" },
  });
  if (error) throw error;
  return { output: result?.output, asked };
}

function stdoutOf([part]: readonly ToolResultPart[]): string {
  if (part?.result.ok === false) return part.result.error.error;
  const value = part?.result.value as { readonly stdout?: string } | undefined;
  return value?.stdout ?? "no output";
}

test("what a command had printed when the run was aborted is in the journal", async () => {
  const controller = new AbortController();
  const { error, journal } = await play({
    files: { "main.worker": worker("toolsets: { shell: { rules: [{ pattern: curl, approval_required: false }] } }") },
    machine: { commands: { curl: () => new Promise<string>(() => controller.abort(new Error("enough"))) } },
    model: () => curl,
    request: { input: "x", signal: controller.signal },
  });
  expect(error).toMatchObject({ code: "aborted" });
  const [outcome] = journal.flatMap((entry) => (entry.type === "result" && entry.kind === "tool" ? [entry.outcome] : []));
  expect(outcome).toMatchObject({ type: "interrupted", partial: { stdout: "", exit_code: 0 } });
  expect(renderJournal({ version: 2, entries: journal, problems: new Map(), torn: false }, 100)).toContain(
    'was interrupted after {"writes":[],"stdout":"",',
  );
});

describe("the network of commands", () => {
  test.each(["", "sandbox: { network_enabled: false }"])("is refused with %j", async (sandbox) => {
    // The argument is none that its tool has.
    expect((await callCurl(sandbox)).output).toContain("network");
    expect((await callCurl(sandbox)).asked).toEqual([]);
  });

  test("is there for a call that asks for it, and the question says so", async () => {
    const { output, asked } = await callCurl("sandbox: { network_enabled: true }");
    expect(output).toBe("network: true");
    expect(asked.map(({ description }) => description)).toEqual(["Run (writes nothing; with network): curl https://example.org"]);
  });

  test("the manifest's holds for workers that have no `sandbox` of their own", async () => {
    const files = { "llm-do.yaml": "sandbox: { network_enabled: true }" };
    expect((await callCurl("", { files })).output).toBe("network: true");
    expect((await callCurl("sandbox: { required: false }", { files })).output).not.toBe("network: true");
  });

  test("a profile's is inherited, and can be taken back", async () => {
    const files = { "llm-do.yaml": "profiles: { online: { sandbox: { network_enabled: true } } }" };
    expect((await callCurl("extends: online", { files })).output).toBe("network: true");
    expect((await callCurl("extends: online\nsandbox: { network_enabled: false }", { files })).output).not.toBe("network: true");
  });
});

describe("`sandbox.required`", () => {
  const main = (more: string) => worker(`sandbox: { required: true }\n${more}`);
  const shell = "toolsets: { shell: { rules: [] } }";

  test("a run does not begin where commands cannot be isolated", async () => {
    const { error, events, model } = await play({
      files: { "main.worker": main(shell) },
      machine: { isolation },
      model: () => "never",
      request: { input: "x" },
    });
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({
      code: "configuration",
      message:
        "`main` may run programs only where they can be isolated (`sandbox.required`), and here they cannot: bubblewrap is not installed",
    });
    expect([events, model.requests]).toEqual([[], []]);
  });

  test("also for a worker further down", async () => {
    const files = { "main.worker": worker("toolsets: { helper: {} }"), "helper.worker": main(`description: helps\n${shell}`) };
    const { error } = await play({ files, machine: { isolation }, model: () => "never", request: { input: "x" } });
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("`helper`") });
  });

  test.each([
    ["it begins where they can be", shell, {}],
    ["and for a worker that starts no programs", "toolsets: { filesystem: {} }", { isolation }],
  ])("%s", async (_, toolsets, machine) => {
    const { result } = await play({
      files: { "main.worker": main(toolsets) },
      machine,
      model: () => "done",
      request: { input: "x" },
    });
    expect(result?.output).toBe("done");
  });
});

describe("commands that cannot be isolated", () => {
  const rules = "rules: [{ pattern: curl, approval_required: false }]";
  const preApproved = `toolsets: { shell: { ${rules}, _approval_config: { "*": { pre_approved: true } } } }`;

  /** One call of `curl`: the questions, and whether it ran. */
  async function callBare(policy: Partial<ApprovalPolicy>, files: Record<string, string> = {}) {
    const asked: ApprovalRequest[] = [];
    const approver = async (request: ApprovalRequest) => {
      asked.push(request);
      return { type: "deny" } as const;
    };
    const { result, error } = await play({
      files: { "main.worker": worker(preApproved), ...files },
      machine: { commands, isolation },
      model: ({ turn, toolResults }) => (turn === 1 ? curl : stdoutOf(toolResults()) || "nothing"),
      approval: { mode: "prompt", approver, ...policy },
      request: { input: "x" },
    });
    return { asked, ran: result?.output === "network: false", error };
  }

  test.each([
    ["a worker's rules and its pre-approval", {}],
    ["a rule of the caller", { rules: [{ effect: "allow", rule: "shell(curl *)" }] }],
  ] as const)("%s lift no question", async (_, policy) => {
    const { asked, ran, error } = await callBare(policy);
    if (error) throw error;
    expect(ran).toBe(false);
    expect(asked.map(({ why }) => why)).toEqual([expect.stringContaining("not isolated on this machine")]);
  });

  test("`unisolated` of the caller does for what a rule has word for word", async () => {
    const pattern = `pattern: "curl https://example.org", unisolated: true`;
    const files = { "main.worker": worker(preApproved.replace("pattern: curl", pattern)) };
    expect(await callBare({ unisolated: true }, files)).toMatchObject({ asked: [], ran: true });
    expect(await callBare({ unisolated: true })).toMatchObject({ ran: false });
  });

  test.each([
    ["llm-do.yaml", { "llm-do.yaml": "unisolated: true" }],
    ["llm-do.yaml", { "llm-do.yaml": "approval: { unisolated: true }" }],
    ["main.worker", { "main.worker": worker(`unisolated: true\n${preApproved}`) }],
    ["main.worker", { "main.worker": worker(`sandbox: { unisolated: true }\n${preApproved}`) }],
  ])("no file can say so: %s", async (_, files) => {
    const { asked, ran, error } = await callBare({}, files);
    expect({ asked, ran }).toEqual({ asked: [], ran: false });
    expect(error).toMatchObject({ diagnostics: expect.arrayContaining([expect.objectContaining({ severity: "error" })]) });
  });

  test.each([
    [false, "ask"],
    [true, "allowed"],
  ])("the verdict of a call knows of it: %j", async (unisolated, type) => {
    const host = memoryHost({
      isolation,
      files: { "/program/main.worker": worker(preApproved.replace("curl", "cat")), "/program/a.txt": "a" },
    });
    const judge = await judgeCalls({ target: "/program", host, trust: true, unisolated });
    expect(await judge.judge({ tool: "shell", args: { command: "cat a.txt" } })).toMatchObject({ type });
    await judge.close();
  });
});

test("a call that asks for effects runs by a rule that gives them, and a pre-approval covers looks alone", async () => {
  const played = async (toolset: string, args: object, rules: readonly string[] = []) => {
    const { result, error } = await play({
      files: { "main.worker": worker(`toolsets: { shell: ${toolset} }`) },
      machine: { commands: { npm: () => "ran" } },
      model: ({ turn, toolResults }) =>
        turn === 1 ? { calls: [{ tool: "shell", args: { command: "npm test", ...args } }] } : stdoutOf(toolResults()),
      approval: { mode: "reject_all", rules: rules.map((rule) => ({ effect: "allow", rule })) },
      request: { input: "x" },
    });
    if (error) throw error;
    return result?.output === "ran";
  };
  const asking = `{ rules: [{ pattern: npm }] }`;
  const preApproved = `{ rules: [{ pattern: npm }], _approval_config: { shell: { pre_approved: true } } }`;
  const writes = { writes: ["coverage"] };
  expect(await played(`{ rules: [{ pattern: npm, writes: [coverage], approval_required: false }] }`, writes)).toBe(true);
  expect(await played(preApproved, {})).toBe(true);
  expect(await played(preApproved, writes)).toBe(false);
  expect(await played(asking, {}, ["main/shell(npm test*)"])).toBe(true);
  expect(await played(asking, writes, ["main/shell(npm test*)"])).toBe(false);
  expect(await played(asking, writes, ["main/shell(command=npm test*, writes=coverage)"])).toBe(true);
  expect(await played(asking, { writes: ["."] }, ["main/shell(command=npm test*, writes=coverage)"])).toBe(false);
  expect(await played(asking, { ...writes, opens: [".git"] }, ["main/shell(command=npm test*, writes=coverage)"])).toBe(false);
});
