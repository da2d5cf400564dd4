import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { frontmatterSchema } from "./frontmatter-schema.ts";
import { parseWorkerFile } from "./parse-worker-file.ts";

const validate = new Ajv2020({ strict: false }).compile(frontmatterSchema);

test.each([
  [{}, true],
  [{ name: "a", description: "b", model: "c:d", version: 1.1, license: "MIT", metadata: null, "x-own": [1] }, true],
  [{ compatible_models: ["a:*"], input: { a: "string" }, output: "string, a summary" }, true],
  [
    {
      toolsets: {
        filesystem: null,
        shell: { rules: [], _approval_config: { shell: { pre_approved: true } }, _prefix: "a_", _use: "b" },
      },
    },
    true,
  ],
  [
    {
      sandbox: {
        paths: { a: { root: ".", mode: "rw", suffixes: [".md"], max_file_bytes: 1, write_approval: true, read_approval: false } },
      },
    },
    true,
  ],
  [
    {
      attachment_policy: {
        max_attachments: 0,
        max_total_bytes: 1,
        allowed_suffixes: [".a"],
        denied_suffixes: [],
        media_types: ["a/b"],
      },
    },
    true,
  ],
  [{ limits: { depth: 0, turns: 1, tool_calls: 1, tokens: 1, seconds: 1, parallel: 1 } }, true],
  [{ toolset: {} }, false],
  [{ name: 3000 }, false],
  [{ name: "two words" }, false],
  [{ description: "" }, false],
  [{ compatible_models: [] }, false],
  [{ compatible_models: "a:*" }, false],
  [{ toolsets: ["filesystem"] }, false],
  [{ toolsets: { a: { _aproval_config: {} } } }, false],
  [{ toolsets: { a: { _approval_config: { x: {} } } } }, false],
  [{ sandbox: { paths: { a: {} } } }, false],
  [{ sandbox: { paths: { a: { root: ".", mode: "w" } } } }, false],
  [{ sandbox: { network_enabled: true } }, false],
  [{ attachment_policy: { allowed_suffixes: ["pdf"] } }, false],
  [{ limits: { turns: 0 } }, false],
  [{ limits: { turns: 1.5 } }, false],
  [{ input: [] }, false],
])("editors and the parser agree on %j", (frontmatter, accepted) => {
  expect(validate(frontmatter)).toBe(accepted);
  const { diagnostics } = parseWorkerFile({ name: "a.worker", text: `---\n${JSON.stringify(frontmatter)}\n---\n` });
  expect(diagnostics.length === 0).toBe(accepted);
});

test("every key is described", () => {
  expect(JSON.stringify(frontmatterSchema)).toContain('"default":"ro"');
  const { properties } = frontmatterSchema as { properties: Record<string, { description?: string }> };
  for (const [key, { description }] of Object.entries(properties)) expect(description, key).toMatch(/\.$/);
});
