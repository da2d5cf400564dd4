import { describe, expect, it, test } from "vitest";
import { createToolGate } from "../../src/approval/index.ts";
import { compile, type RunRequest, run, toolset } from "../../src/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { toJsonValue } from "../../src/util/json/to-json-value.ts";

function host(): MemoryHost {
  const files = { "/work/main.worker": "---\nmodel: scripted:/work/s.yaml\n---\nGo.\n", "/work/s.yaml": "- reply: done\n" };
  return memoryHost({ files });
}

async function refusalOf(request: object): Promise<{ readonly code: unknown; readonly message: string }> {
  const failed = await run({ host: host(), input: "x", ...request } as unknown as RunRequest).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(failed).toBeInstanceOf(Error);
  const { code, message } = failed as Error & { code?: unknown };
  return { code, message };
}

const approval = { mode: "reject_all" };

describe("options of run() that would have no effect", () => {
  it.each([
    [{}, "`approval` is missing: a policy says who may do what"],
    [{ approval: "prompt" }, "`approval` must be an object of options"],
    [{ approval: { ...approval, onDenied: "stopp" } }, "`approval.onDenied` must be `return` or `stop`; did you mean `stop`?"],
    [{ approval: { ...approval, on_denied: "stop" } }, "`approval.on_denied` is no option; did you mean `onDenied`?"],
    [
      { approval: { ...approval, return_permission_errors: false } },
      "`approval.return_permission_errors` is no option; it is now `onDenied`: `return` in place of `true`, `stop` in place of `false`",
    ],
    [{ approval: {} }, "`approval.mode` is missing; it must be `prompt`, `approve_all` or `reject_all`"],
    [
      { approval: { mode: "strict" } },
      "`approval.mode` must be `prompt`, `approve_all` or `reject_all`; `strict` is now `reject_all`",
    ],
    [{ approval: { ...approval, unisolated: "yes" } }, "`approval.unisolated` must be `true` or `false`"],
    [{ approval: { ...approval, approver: true } }, "`approval.approver` must be a function"],
    [
      { approval: { ...approval, rules: [{ effect: "deny", rule: "shell" }] } },
      "`approval.rules.effect` must be `allow`, `ask` or `block`; `deny` is called `block`",
    ],
    [{ approval: { ...approval, rules: [{ effect: "block", role: "shell" }] } }, "did you mean `rule`?"],
    [{ approval, gateEntry: true }, "`run.gateEntry` is no option; the options: "],
    [{ approval, rules: [] }, "`run.rules` is no option; write `approval: { rules: … }`"],
    [{ approval, prompt: "x" }, "`run.prompt` is no option; pass the text as `input`"],
    [{ approval, modle: "x:y" }, "`run.modle` is no option; did you mean `model`?"],
    [{ approval, trust: "yes" }, "`run.trust` must be `true` or `false`"],
    [{ approval, input: ["x"] }, "`run.input` must be a text, or an object of the entry's fields"],
    [{ approval, limits: [] }, "`run.limits` must be an object"],
    [{ approval, limits: { turn: 3 } }, "there is no limit `turn`; there are depth, turns,"],
    [{ approval, attachments: ["a.pdf"] }, "`run.attachments` must be a list of `{ path }` or `{ name, bytes }`"],
    [{ approval, attachments: [{ pth: "a.pdf" }] }, "`run.attachments` must be a list of `{ path }` or `{ name, bytes }`"],
    [{ approval, fragments: [1] }, "`run.fragments` must be a list of texts"],
    [{ approval, files: "main.worker" }, '`run.files` must be a list of paths, such as `["main.worker", "tools.ts"]`'],
    [{ approval, set: "model=x:y" }, "`run.set` must be a list of texts"],
    [{ approval, scopes: { out: 1 } }, "`run.scopes` must be an object from scopes to folders"],
    [{ approval, signal: {} }, "`run.signal` must be an `AbortSignal`"],
    [{ approval, providers: [{ name: "own" }] }, "`run.providers` must be a list of providers, each with `name` and `create`"],
    [{ approval, target: ".", files: ["main.worker"] }, "`target` and `files` exclude one another"],
  ])("%j", async (request, message) => {
    const { code, message: said } = await refusalOf(request);
    expect(code).toBe("configuration");
    expect(said).toContain(message);
  });

  it("takes options that are undefined for options that are not there", async () => {
    const result = await run({ host: host(), input: "x", approval: { mode: "reject_all" }, target: undefined } as never);
    expect(result.output).toBe("done");
  });
});

test("compile() rejects unknown options", async () => {
  await expect(compile({ host: host(), targt: "." } as never)).rejects.toThrow(
    "`compile.targt` is no option; did you mean `target`?",
  );
});

test("compile() rejects rules of another form", async () => {
  await expect(compile({ host: host(), rules: [{ efect: "block", rule: "shell" }] } as never)).rejects.toThrow(
    "`rules.efect` is no option; did you mean `effect`?",
  );
});

test("a price that fits no model, and a rule that matches no call, are warnings of the run", async () => {
  const warnings: string[] = [];
  await run({
    host: host(),
    input: "x",
    approval: { mode: "reject_all", rules: [{ effect: "block", rule: "mian/shell" }] },
    prices: { "opnai:*": { input: 1, output: 2 } },
    onEvent: (event) => event.type === "warning" && warnings.push(event.message),
  });
  expect(warnings).toEqual([
    "`mian` matches no worker that is meant, so the rule does nothing; did you mean `main`?",
    "the price of `opnai:*` fits no model of the program: `scripted:/work/s.yaml`",
  ]);
});

test("a tool is gated once", () => {
  const gate = createToolGate({ approval: { mode: "reject_all" } });
  const tools = gate.gate({ look: { inputSchema: { type: "object" }, execute: () => 1 } });
  expect(() => gate.gate(tools)).toThrow("`look` is gated already: give the gate the tool itself");
  expect(() => createToolGate({ approval: { mode: "reject_all" } }).gate({ again: { ...tools.look } })).toThrow("gated already");
});

test("options of toolset() are checked", () => {
  expect(() => toolset({ name: "x", tools: () => [], needsAproval: () => undefined } as never)).toThrow(
    "`toolset.needsAproval` is no option; did you mean `needsApproval`?",
  );
  expect(() => toolset({ name: "x", tools: [] } as never)).toThrow("`toolset.tools` must be a function");
  expect(() => toolset({ name: "x", tools: () => [], lifetime: "run" })).toThrow(
    "`toolset.lifetime` says something of a connection, and the toolset has no `connect`",
  );
});

test("options of createToolGate() are checked", () => {
  expect(() => createToolGate({ approval: { mode: "reject_all" }, aprover: 1 } as never)).toThrow(
    "`createToolGate.aprover` is no option; the options: ",
  );
});

test("a result that JSON would lose is refused", () => {
  expect(() => toJsonValue({ found: new Map([[1, 2]]) })).toThrow("a Map is not a JSON value: make an object or a list of it");
});
