import { describe, expect, test } from "vitest";
import { manifestSchema, parseManifest } from "../../src/language/manifest.ts";

/** Each key of `llm-do.yaml`: what it takes, and what it does not. */
const keys: Readonly<Record<string, readonly [accepted: string, refused: string]>> = {
  name: ["name: pitches", "name: 3"],
  version: ["version: 1.2.0", "version: [1]"],
  description: ["description: Evaluates decks.", "description: { a: b }"],
  entry: ["entry: tools.ts:main", "entry: 3"],
  model: ["model: anthropic:claude-sonnet-4-5", "model: [a]"],
  toolsets: ["toolsets: { files: { _use: filesystem, max_chars: 5 } }", "toolsets: [filesystem]"],
  sandbox: ["sandbox: { paths: { notes: { root: ./notes, mode: ro } } }", "sandbox: { paths: { notes: { mode: ro } } }"],
  profiles: ["profiles: { careful: { limits: { turns: 5 } } }", "profiles: { careful: { limts: {} } }"],
  context: ["context: { max_result: 20000, window: 32000 }", "context: { max_result: 10 }"],
  model_settings: ["model_settings: { connect_timeout: 3, max_retries: 0 }", "model_settings: { temperature: 0 }"],
  limits: ["limits: { turns: 5, tokens: 1000 }", "limits: { turns: 0 }"],
  approval: ["approval: { mode: reject_all }", "approval: { mode: approve_all }"],
  "approval.rules": [
    'approval: { rules: [{ effect: block, rule: "*/shell(rm *)" }, { effect: ask, rule: write_file }] }',
    "approval: { rules: [{ effect: allow, rule: write_file }] }",
  ],
  journal: ["journal: false", "journal: maybe"],
  allowed_modules: ['allowed_modules: ["@acme/*"]', "allowed_modules: 5"],
  providers: [
    'providers: { mine: { type: openai-compatible, base_url: "http://localhost:8000/v1", api_key: "${MY_KEY}" } }',
    "providers: { mine: {} }",
  ],
  mcp_servers: [
    'mcp_servers: { gh: { command: gh-mcp, args: [a, 1], env: { T: "${T}" }, network: true, tools: ["read_*"] } }',
    "mcp_servers: { gh: { args: [a] } }",
  ],
  auth: ["auth: required", "auth: never"],
  debug: ["debug: true", "debug: loud"],
  generated_workers: [
    "generated_workers: { folder: made, model: a:m, toolsets: { filesystem: {} }, sandbox: { paths: {} }, limits: { turns: 3 } }",
    "generated_workers: { folder: /made }",
  ],
  args: ["args: { input: Begin }", "args: [Begin]"],
};

test("the tables have every key", () => {
  const known = Object.keys((manifestSchema as { readonly properties?: object }).properties ?? {}).filter(
    (key) => !["license", "metadata"].includes(key),
  );
  const tested = Object.keys(keys).filter((key) => !key.includes("."));
  expect(tested.sort()).toEqual(known.sort());
});

describe.each(Object.entries(keys))("%s", (_, [accepted, refused]) => {
  test("is accepted", () => {
    const { diagnostics } = parseManifest({ name: "llm-do.yaml", text: accepted });
    expect(diagnostics.filter(({ code }) => code !== "key-unsupported")).toEqual([]);
  });

  test("is refused, at its place", () => {
    const { diagnostics } = parseManifest({ name: "llm-do.yaml", text: refused });
    expect(diagnostics.filter(({ severity }) => severity === "error")).not.toEqual([]);
    for (const { span } of diagnostics) expect(span?.source.text).toBe(refused);
  });
});
