import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { createEditorSchema, renderEditorSchema, schemaNames } from "../../src/cli/programs/editor-schemas.ts";
import { isRecord } from "../../src/protocol/json.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { createBuiltInToolsets } from "../../src/toolsets/built-ins.ts";
import { runCli, temporaryFolder } from "../cli/run-cli.ts";

test.each([
  [[], "worker"],
  [["worker"], "worker"],
  [["manifest"], "manifest"],
  [["test"], "test"],
] as const)("llm-do schema %s", async (args, name) => {
  const { exitCode, stdout, stderr } = await runCli(["schema", ...args], { cwd: await temporaryFolder() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toBe(renderEditorSchema(name));
  expect(JSON.parse(stdout)).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:llm-do:${name}`,
    title: expect.stringContaining({ worker: ".worker", manifest: "llm-do.yaml", test: ".test.yaml" }[name]),
  });
});

test("a file that has no schema is a mistake in usage", async () => {
  const { exitCode, stdout, stderr } = await runCli(["schema", "tools"], { cwd: await temporaryFolder() });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain("Allowed choices are worker, manifest, test, event, result.");
});

test.each(schemaNames)("the files in schema/ are those that are printed: %s", (name) => {
  const shipped = readFileSync(join(import.meta.dirname, `../../schema/${name}.schema.json`), "utf8").replaceAll("\r\n", "\n");
  expect(shipped, "out of date: run node scripts/make-schemas.ts").toBe(renderEditorSchema(name));
});

test.each(schemaNames)("every key of the %s is described", (name) => {
  const bare = keysOf(createEditorSchema(name), "").filter(({ schema }) => typeof schema["description"] !== "string");
  expect(bare.map(({ path }) => path)).toEqual([]);
});

test("built-in toolsets bring their keys, wherever toolsets are configured", () => {
  const paths = schemaNames.flatMap((name) => keysOf(createEditorSchema(name), name).map(({ path }) => path));
  for (const name of createBuiltInToolsets(memoryHost()).keys()) {
    expect(paths).toContain(`worker.toolsets.${name}._approval_config`);
    expect(paths).toContain(`manifest.toolsets.${name}._prefix`);
  }
  expect(paths).toContain("worker.toolsets.filesystem.max_chars");
  expect(paths).toContain("manifest.profiles.*.toolsets.filesystem.max_chars");
});

test.each([
  [null, true],
  [{ toolsets: { filesystem: null } }, true],
  [{ toolsets: { filesystem: { max_chars: 5, _prefix: "a_", _approval_config: { "*": { pre_approved: true } } } } }, true],
  [{ toolsets: { other: { max_char: 5 } } }, true],
  [{ toolsets: { filesystem: { max_char: 5 } } }, false],
  [{ toolsets: { filesystem: { max_chars: 0 } } }, false],
  [{ toolsets: { filesystem: { _use_: "x" } } }, false],
])("%j", (frontmatter, accepted) => {
  const validate = new Ajv2020({ strict: false }).compile(createEditorSchema("worker"));
  expect(validate(frontmatter)).toBe(accepted);
});

interface Key {
  readonly path: string;
  readonly schema: Record<string, unknown>;
}

/** The keys that a schema declares, nested ones too; `*` stands for any name or index. Conditions declare none. */
function keysOf(schema: unknown, path: string): Key[] {
  if (!isRecord(schema)) return [];
  const properties = Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {});
  const named = properties.flatMap(([key, child]): Key[] => {
    const at = path === "" ? key : `${path}.${key}`;
    return isRecord(child) ? [{ path: at, schema: child }, ...keysOf(child, at)] : [];
  });
  return [...named, ...keysOf(schema["items"], `${path}.*`), ...keysOf(schema["additionalProperties"], `${path}.*`)];
}
