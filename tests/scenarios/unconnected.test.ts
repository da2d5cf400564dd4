import { expect, test } from "vitest";
import { rehearse } from "../../src/front/llm-do.ts";
import { compile, judgeCalls, type RunRequest, toolset } from "../../src/index.ts";
import { memoryHost, scriptedModel } from "../../src/testing/index.ts";
import { renderFirstRequest } from "../../src/ui/explain/render-first-request.ts";
import { worker } from "./harness.ts";

/** A program with a toolset that connects, and that fails a test which makes it. */
function prepare() {
  const notes = toolset({ name: "notes", connect: () => Promise.reject(new Error("nothing is to be connected")) });
  const frontmatter = "toolsets: { notes: { _prefix: my, _approval_config: { add: { pre_approved: true } } } }";
  const host = memoryHost({
    files: { "/program/main.worker": worker(frontmatter), "/program/tools.ts": "export const notes = 0;" },
    modules: { "/program/tools.ts": { notes } },
  });
  const model = scriptedModel(() => "done", "test:model");
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  const request: RunRequest = {
    ...{ target: "/program", host, model: "test:model", trust: true, providers: [provider], input: "go" },
    approval: { mode: "approve_all", rules: [{ effect: "block", rule: "my_drop" }] },
  };
  return request;
}

test("the outline shows tools that are not known yet, with what the rules make of them", async () => {
  const { approval, input: _, ...request } = prepare();
  const { outline, diagnostics } = await compile({ ...request, rules: approval.rules ?? [], toRun: true });
  expect(diagnostics.map(({ code, severity }) => `${code} ${severity}`)).toEqual(["not-verified-unconnected hint"]);
  const [tools] = outline?.workers.flatMap(({ toolsets }) => toolsets.map((one) => one.tools)) ?? [];
  expect(tools).toMatchObject([
    { name: "my_add", plan: { verdict: "allowed" }, unverified: true },
    { name: "my_*", plan: { verdict: "asks" }, unverified: true, description: "known when `notes` connects" },
  ]);
  expect(outline?.ceiling.tools).toEqual(["notes/my_* asks", "notes/my_add allowed"]);
});

test("a rehearsal connects nothing, and says so", async () => {
  const request = prepare();
  const first = await rehearse(request);
  expect(first.request).toMatchObject({ tools: [], unconnected: ["notes"] });
  const { approval: _, input: __, ...source } = request;
  const { outline } = await compile(source);
  if (!outline) throw new Error("it has mistakes");
  expect(renderFirstRequest(first, outline, 200)).toContain(
    "tools that are known when their toolset connects, which a dry run does not do: notes",
  );
});

test("a verdict on a tool that is not known yet says what has to connect first", async () => {
  const { approval: _, input: __, ...request } = prepare();
  const judge = await judgeCalls(request);
  const verdict = await judge.judge({ tool: "my_add", args: {} });
  await judge.close();
  expect(verdict).toMatchObject({
    type: "refused",
    why: "whether `my_add` is a tool is known only in a run: `notes` must connect first",
  });
});
