import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool, toolset } from "../../src/index.ts";
import { isRecord } from "../../src/protocol/json.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

const slug = tool({ input: z.object({ title: z.string() }), run: ({ title }) => title });

/** A toolset of one tool that says which configuration it was made with. */
function describing(config: unknown) {
  const describe = tool({ name: "describe", input: z.object({}), run: () => config });
  return toolset({ name: "describing", tools: () => [describe] });
}

class Database {
  static config = z.object({ url: z.string() });

  constructor(config: unknown) {
    if (isRecord(config) && config["url"] === "broken") throw new Error("no such database");
    Object.assign(this, describing(config));
  }
}

/** As somebody writes it who knows no `toolset()`. */
class Written {
  static config = z.object({ url: z.string() });
  readonly #url: string;

  constructor({ url }: { url: string }) {
    this.#url = url;
  }

  tools() {
    return [tool({ name: "describe", input: z.object({}), run: () => ({ url: this.#url }) })];
  }
}

const exported = {
  Written,
  optionalFactory: ({ url = "none" } = {}) => describing({ url }),
  /** A kit of the AI SDK, whose parameter is optional. */
  kit: (options: object = {}) => ({ description: "Describes.", inputSchema: z.object({}), execute: () => options }),
  Database,
  Plain: class {
    constructor(config: unknown) {
      Object.assign(this, describing(config));
    }
  },
  factory: (config: unknown) => describing(config),
  /** A parameter with a default does not count for \`length\`. */
  Optional: class {
    static config = z.object({ url: z.string() });

    constructor(config: unknown = {}) {
      Object.assign(this, describing(config));
    }
  },
  none: (_config: unknown) => 1,
  slug,
  other: slug,
  number: 1,
};

async function compileWith(toolsets: string, environment: Readonly<Record<string, string>> = {}) {
  const code = Object.keys(exported).map((name) => `export const ${name} = 0;\n`);
  const files = { "main.worker": worker(`toolsets: ${toolsets}`), "tools.ts": code.join("") };
  const host = createMachine({ files, modules: { "tools.ts": exported }, environment });
  const { program, shown, diagnostics } = await compileOn(host, { trust: true });
  const references = program?.workers.get("main")?.toolsets ?? [];
  return { references, shown, messages: diagnostics.map(({ message }) => message) };
}

describe("a class or a factory that takes its configuration", () => {
  test.each(["Database", "./tools.ts:Database", "Plain", "Optional", "factory", "Written", "optionalFactory"])(
    "%s gets it",
    async (reference) => {
      const { references, shown } = await compileWith(`{ ${JSON.stringify(reference)}: { url: "\${DB}" } }`, { DB: "sqlite:x" });
      expect(shown).toEqual([]);
      const [made] = references;
      expect(made?.tools.map(({ name }) => name)).toEqual(["describe"]);
      expect(await made?.tools[0]?.execute({}, { signal: new AbortController().signal } as never)).toEqual({ url: "sqlite:x" });
    },
  );

  test("gets it where its parameter is optional, as a kit of the AI SDK", async () => {
    const { references, shown } = await compileWith("{ kit: { apiKey: a } }");
    expect(shown).toEqual([]);
    const [made] = references;
    expect(await made?.tools[0]?.execute({}, { signal: new AbortController().signal } as never)).toEqual({ apiKey: "a" });
  });

  test("has its schema in a static `config`", async () => {
    const { shown, messages } = await compileWith("{ Database: { url: 1 } }");
    expect(shown).toEqual(["toolset-config main.worker:2:25 error"]);
    expect(messages[0]).toContain("`Database` does not take this configuration: `url`");
  });

  test("is refused where it throws, or makes no toolset", async () => {
    expect((await compileWith("{ Database: { url: broken } }")).messages).toEqual([
      "`Database` does not make a toolset: no such database",
    ]);
    expect((await compileWith("{ none: {} }")).messages[0]).toMatch(
      /^`none` does not make a toolset: for a tool write `export const none = tool/,
    );
  });
});

describe("custom", () => {
  test("chooses tools of the program's code one by one", async () => {
    const { references, shown } = await compileWith("{ custom: { slug: { pre_approved: true }, other: {} } }");
    expect(shown).toEqual([]);
    expect(
      references.map(({ reference, tools, approvals }) => [reference, tools.map(({ name }) => name), [...approvals]]),
    ).toEqual([["custom", ["slug", "other"], [["slug", true]]]]);
  });

  test("takes `_approval_config` and `_prefix`, too, and instances of it", async () => {
    const { references, shown } = await compileWith(
      "{ mine: { _use: custom, _prefix: my, slug: { pre_approved: true }, _approval_config: { slug: { pre_approved: false } } } }",
    );
    expect(shown).toEqual([]);
    expect(references.map(({ prefix, approvals }) => [prefix, [...approvals]])).toEqual([["my", [["slug", false]]]]);
  });

  test.each([
    ["{ custom: { slgu: {} } }", "export-missing", "`tools.ts` exports no `slgu`"],
    ["{ custom: { number: {} } }", "toolset-not-one", "the export `number` is no tool"],
    ["{ custom: { slug: { free: true } } }", "toolset-config", "`custom.slug` takes `pre_approved` alone"],
    ["{ custom: { slug: {} }, slug: {} }", "tool-name-conflict", "`slug` offers a second tool `slug`"],
  ])("%s is refused at its place", async (toolsets, code, message) => {
    const { shown, messages } = await compileWith(toolsets);
    expect(shown).toEqual([expect.stringMatching(new RegExp(`^${code} main.worker:2:\\d+ error$`))]);
    expect(messages).toEqual([message]);
  });

  test("needs a `tools.ts`", async () => {
    const host = createMachine({ files: { "main.worker": worker("toolsets: { custom: { slug: {} } }") } });
    expect((await compileOn(host)).shown).toEqual(["toolset-requirement main.worker:2:13 error"]);
  });

  test("is not verified without trust", async () => {
    const files = { "main.worker": worker("toolsets: { custom: { slug: {} } }"), "tools.ts": "export const slug = 0;" };
    expect((await compileOn(createMachine({ files }))).shown).toEqual(["not-verified-untrusted main.worker:2:13 hint"]);
  });
});

test("a package without an export says how one is named", async () => {
  const host = createMachine({ files: { "main.worker": worker('toolsets: { "@acme/tools": {} }') } });
  const { diagnostics } = await compileOn(host, { trust: true });
  expect(diagnostics.flatMap(({ notes = [] }) => notes.map(({ message }) => message))).toEqual([
    "a package is named with what it exports: `@acme/tools:NAME`",
  ]);
});

test("a path to a built-in toolset that does not exist lists those that do", async () => {
  const { shown, messages } = await compileWith('{ "llm-do/toolsets:FooToolset": {} }');
  expect(shown).toEqual(["unknown-toolset main.worker:2:13 error"]);
  expect(messages).toEqual(["there is no built-in toolset `llm-do/toolsets:FooToolset`"]);
});

test.each(["Filesystem", "Shell", "Delegation", "DynamicWorkers", "Mcp", "Custom"])(
  "llm-do/toolsets:%sToolset is a built-in one",
  async (name) => {
    const config = name === "Mcp" ? "{ servers: {} }" : name === "Shell" ? "{ default: { approval_required: true } }" : "{}";
    const { shown, references } = await compileWith(`{ "llm-do/toolsets:${name}Toolset": ${config} }`);
    expect(shown.filter((line) => line.endsWith("error"))).toEqual([]);
    expect(references.map(({ toolset: { name: own } }) => own)).toEqual([
      name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(),
    ]);
  },
);
