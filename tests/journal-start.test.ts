import { expect, test } from "vitest";
import { SystemError } from "../src/host/files/system-error.ts";
import { type RunError, type RunRequest, run } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";
import { memoryHost } from "../src/testing/memory-host.ts";
import { runsIn, withFolders } from "./records.ts";

/** Runs a program on a machine that makes the folders of runs through `makeFolder`. */
async function runWhere(
  makeFolder: (make: () => Promise<void>) => Promise<void>,
  { entry, onEntered }: { readonly entry: string; readonly onEntered: () => void },
) {
  const main = async () => {
    onEntered();
    return "done";
  };
  const memory = memoryHost({
    files: { "/p/main.worker": "---\ndescription: Works.\n---\nYou work.\n", "/p/tools.ts": "export const main = 0;\n" },
    modules: { "/p/tools.ts": { main } },
  });
  const files = withFolders(memory.files, (folder) => ({
    create: async (name) => {
      await makeFolder(async () => undefined);
      return folder.create(name);
    },
  }));
  const script = () => {
    onEntered();
    return { text: "done" };
  };
  const provider = { name: "test", description: "", keyVariables: [], create: async () => scriptedModel(script, "test:m") };
  const request: RunRequest = {
    ...{ host: { ...memory, files }, target: "/p", entry, model: "test:m", providers: [provider], trust: true, input: "go" },
    approval: { mode: "reject_all" },
  };
  return { result: run(request), memory };
}

test.each(["main", "tools.ts:main"])("%s begins when its journal is there, and leaves all facts in it", async (entry) => {
  const order: string[] = [];
  let isAsked = false;
  const { result, memory } = await runWhere(
    async (make) => {
      isAsked = true;
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      await make();
      order.push("folder");
    },
    { entry, onEntered: () => order.push("entered") },
  );
  expect(await result).toMatchObject({ output: "done" });
  expect({ isAsked, order }).toEqual({ isAsked: true, order: ["folder", "entered"] });
  const [, journal = ""] = Object.entries(memory.snapshot(runsIn("/p"))).find(([path]) => path.endsWith("journal.jsonl")) ?? [];
  const facts = journal
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(facts.map(({ n }) => n)).toEqual(facts.map((_, index) => index));
  expect([facts.at(0)?.type, facts.at(-1)?.type]).toEqual(["run-start", "run-end"]);
});

test.each(["main", "tools.ts:main"])("%s does not begin where its journal cannot be made", async (entry) => {
  const entered: string[] = [];
  const refuse = async () => {
    throw new SystemError("EACCES", "permission denied");
  };
  const { result } = await runWhere(refuse, { entry, onEntered: () => entered.push("entered") });
  const error: RunError = await result.then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({
    code: "configuration",
    message: expect.stringMatching(/^the run cannot be recorded: \/.*\/runs: EACCES: permission denied$/),
  });
  expect(error.cause).toMatchObject({ name: "JournalError", isNew: true });
  expect(entered).toEqual([]);
});
