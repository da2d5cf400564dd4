import { expect, test } from "vitest";
import { findPrograms } from "../../src/cli/executor/find-programs.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { writeProgram } from "./run-cli.ts";

const worker = "---\nmodel: scripted:model.yaml\ntoolsets: { one: {} }\n---\nGo.\n";
const tools =
  'import { tool } from "llm-do";\nexport const one = tool({ description: "x", input: { type: "object" }, run: () => 1 });\n';

/** A folder with programs whose modules begin with these lines. */
function deployed(programs: Readonly<Record<string, string>>): Promise<string> {
  const files = Object.entries(programs).map(([name, line]) => ({
    [`${name}/llm-do.yaml`]: `name: ${name}\n`,
    [`${name}/main.worker`]: worker,
    [`${name}/model.yaml`]: "- reply: done\n",
    [`${name}/tools.ts`]: `${line}\n${tools}`,
  }));
  return writeProgram(Object.assign({}, ...files));
}

test("code that never loads keeps no other program of an executor from loading", async () => {
  const root = await deployed({ first: "await new Promise(() => {});", second: "" });
  const options = { host: createNodeHost(), toRun: true, quiet: true, terminal: undefined, loadSeconds: 10 };
  const found = await findPrograms([root], { trust: true }, options);
  expect(found.map(({ key, program, problem }) => [key, program?.name, problem])).toEqual([
    [expect.stringContaining("first"), undefined, "its code did not load within 10 s"],
    [expect.stringContaining("second"), "second", undefined],
  ]);
});
