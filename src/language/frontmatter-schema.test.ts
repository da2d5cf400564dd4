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
  [{ limits: { depth: 0, turns: 1, tool_calls: 1, tokens: 1, usd: 0.5, seconds: 1, parallel: 1 } }, true],
  [
    {
      model_settings: {
        temperature: 0,
        max_output_tokens: 1,
        top_p: 1,
        seed: 0,
        reasoning: "none",
        provider_options: { openai: { x: [] } },
      },
    },
    true,
  ],
  [{ prompt: "{{ input }}", fragments: ["a.md", "./b c.md", "../d.md"], system_fragments: [] }, true],
  [{ server_side_tools: [{ tool_type: "web_search", max_uses: 1, allowed_domains: ["a.com", "*.b.com"] }] }, true],
  [{ server_side_tools: [{ tool_type: "web_fetch", blocked_domains: ["a.com"] }, { tool_type: "code_execution" }] }, true],
  [{ sandbox: { network_enabled: ["localhost"], required: false } }, true],
  [{ extends: "./base.worker", locked: true, auth: "auto", debug: false }, true],
  [{ extends: "base.worker" }, true],
  [{ extends: "careful" }, true],
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
  [{ sandbox: { network: true } }, false],
  [{ sandbox: { network_enabled: "yes" } }, false],
  [{ sandbox: { network_enabled: [] } }, false],
  [{ sandbox: { network_enabled: ["https://a.com"] } }, false],
  [{ limits: { usd: 0 } }, false],
  [{ model_settings: { temperature: -1 } }, false],
  [{ model_settings: { top_p: 1.1 } }, false],
  [{ model_settings: { reasoning: "max" } }, false],
  [{ model_settings: { provider_options: { anthropic: 1 } } }, false],
  [{ server_side_tools: { tool_type: "web_search" } }, false],
  [{ server_side_tools: [{ tool_type: "url_context" }] }, false],
  [{ server_side_tools: [{ max_uses: 1 }] }, false],
  [{ server_side_tools: [{ tool_type: "web_search", _approval_config: {} }] }, false],
  [{ server_side_tools: [{ tool_type: "web_search", allowed_domains: ["a.com"], blocked_domains: ["b.com"] }] }, false],
  [{ server_side_tools: [{ tool_type: "code_execution", max_uses: 1 }] }, false],
  [{ fragments: "a.md" }, false],
  [{ fragments: ["/a.md"] }, false],
  [{ system_fragments: ["C:/a.md"] }, false],
  [{ extends: "~/a.worker" }, false],
  [{ extends: "two words" }, false],
  [{ auth: "on" }, false],
  [{ locked: "yes" }, false],
  [{ debug: 0 }, false],
  [{ prompt: "" }, false],
  [{ attachment_policy: { allowed_suffixes: ["pdf"] } }, false],
  [{ limits: { turns: 0 } }, false],
  [{ limits: { turns: 1.5 } }, false],
  [{ input: [] }, false],
])("editors and the parser agree on %j", (frontmatter, accepted) => {
  expect(validate(frontmatter)).toBe(accepted);
  const { diagnostics } = parseWorkerFile({ name: "a.worker", text: `---\n${JSON.stringify(frontmatter)}\n---\n` });
  expect(diagnostics.every(({ code }) => code === "key-unsupported")).toBe(accepted);
});

test("every key is described", () => {
  expect(JSON.stringify(frontmatterSchema)).toContain('"default":"ro"');
  const { properties } = frontmatterSchema as { properties: Record<string, { description?: string }> };
  for (const [key, { description }] of Object.entries(properties)) expect(description, key).toMatch(/\.$/);
});
