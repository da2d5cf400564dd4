import { describe, expect, test } from "vitest";
import { type ApprovalPolicy, type ApprovalRequest, judgeCalls, RunError } from "../../src/index.ts";
import type { ToolResultPart } from "../../src/protocol/message.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { renderJournal } from "../../src/ui/render-journal.ts";
import { play, worker } from "./harness.ts";

const isolation = { type: "none", why: "bubblewrap is not installed" } as const;
const commands = { curl: (_: readonly string[], { network }: { readonly network: boolean }) => `network: ${network}` };
const curl = { calls: [{ tool: "shell", args: { command: "curl https://example.org" } }] };

/** One call of `curl`, by a worker with this `sandbox`; gives what it printed, and what a person was asked. */
async function callCurl(sandbox: string, more: { readonly files?: Record<string, string> } = {}) {
  const asked: ApprovalRequest[] = [];
  const { result, error } = await play({
    files: { "main.worker": worker(`${sandbox}\ntoolsets: { shell: { rules: [{ pattern: curl }] } }`), ...more.files },
    machine: { commands },
    model: ({ turn, toolResults }) => (turn === 1 ? curl : stdoutOf(toolResults()) || "nothing"),
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
  const value = part?.result.ok ? (part.result.value as { readonly stdout?: string }) : {};
  return value.stdout ?? "no output";
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
    'was interrupted after {"stdout":"",',
  );
});

describe("the network of commands", () => {
  test.each([
    ["", false],
    ["sandbox: { network_enabled: false }", false],
    ["sandbox: { network_enabled: true }", true],
  ])("%j: %s, and the question says so", async (sandbox, network) => {
    const { output, asked } = await callCurl(sandbox);
    expect(output).toBe(`network: ${network}`);
    expect(asked.map(({ preview }) => preview)).toEqual([
      { type: "text", syntax: "shell", text: expect.stringContaining(`isolated, ${network ? "with" : "without"} network`) },
    ]);
  });

  test("the manifest's holds for workers that have no `sandbox` of their own", async () => {
    const files = { "llm-do.yaml": "sandbox: { network_enabled: true }" };
    expect((await callCurl("", { files })).output).toBe("network: true");
    expect((await callCurl("sandbox: { required: false }", { files })).output).toBe("network: false");
  });

  test("a profile's is inherited, and can be taken back", async () => {
    const files = { "llm-do.yaml": "profiles: { online: { sandbox: { network_enabled: true } } }" };
    expect((await callCurl("extends: online", { files })).output).toBe("network: true");
    expect((await callCurl("extends: online\nsandbox: { network_enabled: false }", { files })).output).toBe("network: false");
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

  test("`unisolated` of the caller does: the rules decide, and nobody is asked", async () => {
    expect(await callBare({ unisolated: true })).toMatchObject({ asked: [], ran: true });
  });

  test.each([
    ["llm-do.yaml", { "llm-do.yaml": "unisolated: true" }],
    ["llm-do.yaml", { "llm-do.yaml": "approval: { unisolated: true }" }],
    ["main.worker", { "main.worker": worker(`unisolated: true\n${preApproved}`) }],
    ["main.worker", { "main.worker": worker(`sandbox: { unisolated: true }\n${preApproved}`) }],
  ])("no file can say so: %s", async (_, files) => {
    const { asked, ran, error } = await callBare({}, files);
    expect({ asked, ran }).toEqual({ asked: [], ran: false });
    expect(error).toMatchObject({ diagnostics: [expect.objectContaining({ severity: "error" })] });
  });

  test.each([
    [false, "ask"],
    [true, "allowed"],
  ])("the verdict of a call knows of it: %j", async (unisolated, type) => {
    const host = memoryHost({ isolation, files: { "/program/main.worker": worker(preApproved) } });
    const judge = await judgeCalls({ target: "/program", host, trust: true, unisolated });
    expect(await judge.judge({ tool: "shell", args: { command: "curl x" } })).toMatchObject({ type });
    await judge.close();
  });
});

describe("globs of a command", () => {
  const sort = { calls: [{ tool: "shell", args: { command: "sort *.txt" } }] };
  const rules = "toolsets: { shell: { rules: [{ pattern: sort, approval_required: false }] } }";
  const playSort = (files: Record<string, string>) =>
    play({
      files: { "main.worker": worker(rules), ...files },
      machine: { commands: { sort: (args) => args.join(" ") } },
      model: ({ turn, toolResults }) => (turn === 1 ? sort : JSON.stringify(toolResults()[0]?.result)),
      approval: { mode: "reject_all" },
      request: { input: "x" },
    });

  test("names take their place where none could be an option", async () => {
    const { result } = await playSort({ "b.txt": "b", "a.txt": "a", ".hidden.txt": "c" });
    expect(result?.output).toContain("a.txt b.txt");
  });

  test("a name that could be an option asks", async () => {
    const { result } = await playSort({ "a.txt": "a", "-ob.txt": "b" });
    expect(result?.output).toContain('"type":"denied"');
  });
});

test("commands that would open the repository to one another are to be run apart", async () => {
  const line = "npm test && git add -A && git commit -m done";
  const rules = ["npm test", "git add", "git commit"]
    .map((pattern) => `{ pattern: ${pattern}, approval_required: false }`)
    .join(", ");
  const { result } = await play({
    files: { "main.worker": worker(`toolsets: { shell: { rules: [${rules}] } }`) },
    machine: { commands: { npm: () => "", git: () => "" } },
    model: ({ turn, toolResults }) =>
      turn === 1 ? { calls: [{ tool: "shell", args: { command: line } }] } : JSON.stringify(toolResults()[0]?.result),
    approval: { mode: "reject_all" },
    request: { input: "x" },
  });
  expect(result?.output).toContain("run its commands apart, each in a call of its own");
});
