import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { approveAll, attack, outcome, World } from "./world.ts";

const main = (frontmatter: string, text = "Go.") => `---\ndescription: x\n${frontmatter}\n---\n${text}\n`;
/** Everything of the world may be written without a question. */
const free = "sandbox: { paths: { w: { root: .., mode: rw, write_approval: false } } }";

const tools = `import { tool } from "llm-do";
import { dep } from "dep";
import { linked } from "linked";
import { mapped } from "#mapped";
import { own } from "mine/own.js";
import { a } from "./lib/a.js";
import { shared } from "../shared/index.ts";
await import("./plugin.js").catch(() => undefined);
export const sum = tool({ description: "x", input: { type: "object" }, run: () => [dep, linked, mapped, own, a, shared] });
`;

/** A program whose code comes from everywhere that Node looks. */
function createWorld(more: Readonly<Record<string, string>> = {}): World {
  const world = new World({
    "main.worker": main(`toolsets: { filesystem: {}, sum: {} }\n${free}`),
    "tools.ts": tools,
    "package.json": '{"name":"mine","type":"module","imports":{"#mapped":"./maps/m.js"},"exports":{"./own.js":"./own/o.js"}}',
    "lib/a.ts": 'import { b } from "./deep/b.cjs";\nexport const a = b;\n',
    "lib/deep/b.cjs": 'exports.b = require("./c").c;\n',
    "lib/deep/c.js": "exports.c = 1;\n",
    "lib/deep/package.json": '{"type":"commonjs"}',
    "maps/m.js": "export const mapped = 1;\n",
    "own/o.js": "export const own = 1;\n",
    "node_modules/dep/package.json": '{"name":"dep","version":"1.0.0","main":"index.js","dependencies":{"deeper":"1"}}',
    "node_modules/dep/index.js": "exports.dep = require('deeper');\n",
    ...more,
  });
  world.put("shared/index.ts", "export const shared = 1;\n");
  world.put("packages/linked/package.json", '{"name":"linked","version":"2.0.0","type":"module","exports":"./src/index.js"}');
  world.put("packages/linked/src/index.js", 'export { linked } from "./part.js";\n');
  world.put("packages/linked/src/part.js", "export const linked = 1;\n");
  world.put("store/node_modules/deeper/package.json", '{"name":"deeper","version":"3.0.0","main":"index.js"}');
  world.put("store/node_modules/deeper/index.js", "module.exports = 1;\n");
  link(world, "program/node_modules/linked", "packages/linked");
  link(world, "program/node_modules/deeper", "store/node_modules/deeper");
  return world;
}

function link(world: World, path: string, target: string): void {
  mkdirSync(dirname(world.at(path)), { recursive: true });
  symlinkSync(world.at(target), world.at(path));
}

/** Text that would run in the next run, though nobody was asked. */
const places = [
  "program/node_modules/dep/index.js",
  "program/node_modules/dep/new/index.js",
  "program/node_modules/zod/index.js",
  "program/node_modules/llm-do/index.js",
  "program/NODE_MODULES/dep/index.js",
  "program/lib/node_modules/dep/index.js",
  "program/lib/deep/node_modules/dep/index.js",
  "node_modules/dep/index.js",
  "store/node_modules/deeper/index.js",
  "packages/linked/src/index.js",
  "packages/linked/src/part.js",
  "packages/linked/package.json",
  "packages/linked/node_modules/x/index.js",
  "packages/node_modules/x/index.js",
  "shared/index.ts",
  "shared/package.json",
  "program/package.json",
  "program/lib/package.json",
  "program/lib/a.js",
  "program/lib/a.ts",
  "program/lib/deep/b.cjs",
  "program/lib/deep/c",
  "program/lib/deep/c.js",
  "program/lib/deep/package.json",
  "program/maps/m.js",
  "program/own/o.js",
  "program/plugin.js",
  "program/plugin.ts",
];

/** Other files of those folders. */
const others = [
  "program/lib/notes.md",
  "program/lib/b.ts",
  "program/lib/deep/d.js",
  "packages/linked/src/other.js",
  "packages/linked/README.md",
  "packages/another/index.js",
  "packages/another/node_modules/x/index.js",
  "shared/other.ts",
  "program/tests/node_modules.md",
];

const write = (path: string) => ({ tool: "write_file", args: { path: `w/${path}`, content: "evil" } });

describe("code of a program", { timeout: 60_000 }, () => {
  test("cannot be written by file tools, existing or not; other files can", async () => {
    const world = createWorld();
    const before = Object.fromEntries(places.map((path) => [path, existsSync(world.at(path)) ? world.read(path) : undefined]));
    const { results, error } = await attack(world, { model: [[...places, ...others].map(write)], approval: approveAll });
    expect(error).toBeUndefined();
    const outcomes = results.map(outcome);
    expect(Object.fromEntries([...places, ...others].map((path, index) => [path, outcomes[index]]))).toEqual(
      Object.fromEntries([...places.map((path) => [path, "blocked"]), ...others.map((path) => [path, "ok"])]),
    );
    for (const path of places) expect(existsSync(world.at(path)) ? world.read(path) : undefined, path).toBe(before[path]);
  });

  test("is guarded without code in node_modules: zod is the one that runs here", async () => {
    const world = new World({
      "main.worker": main(`toolsets: { filesystem: {}, one: {} }\n${free}`),
      "tools.ts": `import { tool } from "llm-do";\nimport { z } from "zod";
export const one = tool({ description: "x", input: z.object({}), run: () => 1 });\n`,
      "node_modules/zod/package.json": '{"name":"zod","main":"index.js"}',
      "node_modules/zod/index.js": "throw new Error('planted');\n",
      "node_modules/llm-do/package.json": '{"name":"llm-do","main":"index.js"}',
      "node_modules/llm-do/index.js": "throw new Error('planted');\n",
    });
    const { error, results } = await attack(world, { model: [[{ tool: "one", args: {} }]] });
    expect(error).toBeUndefined();
    expect(results[0]?.result).toEqual({ ok: true, value: 1 });
  });

  test("leaves node_modules alone in a program without code", async () => {
    const world = new World({ "main.worker": main(`toolsets: { filesystem: {} }\n${free}`) });
    const { results } = await attack(world, { model: [[write("program/node_modules/x/index.js")]] });
    expect(results.map(outcome)).toEqual(["ok"]);
    expect(world.read("program/node_modules/x/index.js")).toBe("evil");
  });

  test("is found only in the installed package that the manifest's workers come from", async () => {
    const world = new World({
      "main.worker": main(`toolsets: { filesystem: {}, "pack:helper.worker": {} }\n${free}`),
      "package.json": '{"dependencies":{"pack":"1"}}',
    });
    world.put("node_modules/pack/package.json", '{"name":"pack"}');
    world.put("node_modules/pack/helper.worker", main("", "Help."));
    const { results, error } = await attack(world, { model: [[write("program/node_modules/pack/helper.worker")]] });
    expect(error).toBeUndefined();
    expect(results.map(outcome)).toEqual(["blocked"]);
  });
});

describe("scripts that play models", () => {
  test.each(["script.mjs", "helper.mjs", "node_modules/x/index.js"])("%s is written by no file tool", async (path) => {
    const world = new World({
      "main.worker": main(`toolsets: { filesystem: {} }\n${free}`),
      "script.mjs": `import "./helper.mjs";
export default (request) => request.toolResults().length > 0 ? JSON.stringify(request.toolResults()) : { calls: [${JSON.stringify(write(`program/${path}`))}] };\n`,
      "helper.mjs": "export {};\n",
    });
    const request = { model: `scripted:${world.at("program/script.mjs")}` };
    const { result, error } = await attack(world, { model: [], request, approval: approveAll });
    expect(error).toBeUndefined();
    expect(result?.output).toContain("belongs to the running program");
    expect(world.files("program")).toEqual(["helper.mjs", "main.worker", "script.mjs"]);
  });
});

describe("templates", () => {
  test("cannot be shadowed by a file that a file tool writes", async () => {
    const world = new World({
      "main.worker": main(`toolsets: { filesystem: {} }\n${free}`, '{% render "sub/part.md" %} Go.'),
      "templates/sub/part.md": '{% render "inner.md" %}',
      "templates/inner.md": "ORIGINAL",
    });
    const paths = ["program/sub/part.md", "program/inner.md", "program/templates/inner.md", "program/templates/sub/part.md"];
    const { results } = await attack(world, { model: [[...paths, "program/templates/new.md"].map(write)], approval: approveAll });
    expect(results.map(outcome)).toEqual(["blocked", "blocked", "blocked", "blocked", "ok"]);
    const { scripted } = await attack(world, { model: [] });
    expect(JSON.stringify(scripted.requests)).toContain("ORIGINAL");
  });
});
