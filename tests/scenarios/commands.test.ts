import { describe, expect, test } from "vitest";
import { type ApprovalRequest, RunError } from "../../src/index.ts";
import type { ToolResultPart } from "../../src/protocol/message.ts";
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
    model: ({ turn, toolResults }) => (turn === 1 ? curl : stdoutOf(toolResults())),
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
  return value.stdout ?? "";
}

describe("the network of commands", () => {
  test.each([
    ["", false],
    ["sandbox: { network_enabled: false }", false],
    ["sandbox: { network_enabled: true }", true],
  ])("%j: %s, and the question says so", async (sandbox, network) => {
    const { output, asked } = await callCurl(sandbox);
    expect(output).toBe(`network: ${network}`);
    expect(asked.map(({ preview }) => preview)).toEqual([
      { type: "text", text: expect.stringContaining(`isolated, ${network ? "with" : "without"} network`) },
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
