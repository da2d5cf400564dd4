import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { type CliResult, runCli, script, writeProgram } from "./run-cli.ts";

const schema = JSON.parse(readFileSync(join(import.meta.dirname, "../../schema/result.schema.json"), "utf8"));

it("fits its schema, however the run ends", async () => {
  const call = { calls: [{ tool: "write_file", args: { path: "a.md", content: "x" } }] };
  const cwd = await writeProgram({
    "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\n---\nGo.\n",
    "broken.worker": "---\ntoolset: {}\n---\nGo.\n",
    "model.yaml": script({ main: [call, call, "done"] }),
    "empty.yaml": script({ main: [] }),
  });
  const lines = [
    [".", "go", "--json"],
    [".", "go", "--json", "--limit", "turns=2", "--approve-all"],
    [".", "go", "--json", "--on-denied", "stop", "--reject-all"],
    [".", "go", "--json", "--model-for", "main=scripted:empty.yaml"],
    ["broken.worker", "go", "--json"],
  ];
  const bin = join(import.meta.dirname, "fixtures/play-lines.ts");
  const { stdout } = await runCli([], { cwd, bin, input: JSON.stringify(lines.map((args) => ({ args, cwd }))) });
  const results = (JSON.parse(stdout) as readonly CliResult[]).map((one) => JSON.parse(one.stdout));
  expect(results.map(({ exitCode }) => exitCode)).toEqual([4, 6, 5, 2, 2]);
  const validate = new Ajv2020({ strict: false }).compile(schema);
  for (const result of results)
    expect({ result, errors: validate(result) ? [] : validate.errors }).toEqual({ result, errors: [] });
});
