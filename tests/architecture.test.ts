import { dirname, posix } from "node:path";
import { expect, test } from "vitest";
import {
  checkImports,
  edgeRooms,
  findCycle,
  findEffectUses,
  findExecuteUses,
  findForgedGrants,
  findMachineUses,
  readArchitecture,
  readImports,
  readImportTable,
  readSources,
  roomOf,
  type SourceFile,
} from "../scripts/check-architecture.ts";
import { blankText, commentWords } from "../scripts/check-text.ts";
import { functionsOf } from "../scripts/code-size.ts";

const root = dirname(import.meta.dirname);
const rooms = readArchitecture(root);
const sources = readSources(root);

const longestFile = 400;
/** Files of code in a folder, without those in its subfolders. */
const largestFolder = 20;
const longestFunction = 50;

/** In a thousand words of a room's comments. Numbers that only go down: say who does what, and `if` for a condition. */
const mostPerThousand = { what: 15, where: 8 };

/** The loop itself; nothing in it may see a toolset that is not gated. */
const loopFiles = ["runtime/agent-loop.ts", "runtime/tool-call.ts", "runtime/request-model.ts"];

/** Members called `execute` that are entered outside the gate, each with the reason why that is no way around it. */
const otherExecutes: Readonly<Record<string, string>> = {
  "toolsets/filesystem/filesystem.ts: work.execute":
    "a prepared piece of work, inside the execution of the tool that it belongs to",
  "toolsets/skills/skills.ts: work.execute": "the same work, for a file of a skill",
  "approval/tool-gate.ts: foreign.execute": "the body of a tool that the gate enters like any other",
  "testing/toolset-conformance.ts: tool.execute": "counts the executions of a tool that the gate enters",
  "runtime/call-entry.ts: code.execute": "the code entry that the user started; what it calls goes through the gate",
  "compile/entry.ts: value.execute": "the same, as it is linked",
  "runtime/answer-by-code.ts: code.execute": "the code of a worker, in that worker's call; what it calls goes through the gate",
  "compile/link/link-code.ts: value.execute": "the same, as it is linked",
};

test("every room of src has a row, and every row a room", () => {
  expect([...new Set(sources.map(({ path }) => roomOf(path)))].sort()).toEqual([...rooms.keys()].sort());
});

test("rooms import only what the table allows", async () => {
  expect((await Promise.all(sources.map((file) => checkImports(file, rooms)))).flat()).toEqual([]);
});

test("the table itself has no cycle", () => {
  expect(findCycle(new Map([...rooms.values()].map(({ name, mayImport }) => [name, mayImport.keys()])))).toBeUndefined();
});

test("no cycle between files by values, nor between rooms by anything", async () => {
  const files = new Map<string, string[]>();
  const folders = new Map<string, Set<string>>();
  for (const file of sources) {
    const imports = (await readImports(file)).filter(({ isLocal }) => isLocal);
    files.set(
      file.path,
      imports.filter(({ kind }) => kind === "value").map(({ target }) => target),
    );
    const others = folders.get(roomOf(file.path)) ?? new Set();
    for (const { target } of imports) if (roomOf(target) !== roomOf(file.path)) others.add(roomOf(target));
    folders.set(roomOf(file.path), others);
  }
  expect(findCycle(files)).toBeUndefined();
  expect(findCycle(folders)).toBeUndefined();
});

test("every import leads to a file", async () => {
  const known = new Set(sources.map(({ path }) => path));
  for (const file of sources) {
    for (const { isLocal, target } of await readImports(file)) if (isLocal) expect(known, file.path).toContain(target);
  }
});

test("only cli and host touch the process, the console, the clock and chance", () => {
  expect(sources.filter(({ path }) => !edgeRooms.includes(roomOf(path))).flatMap(findMachineUses)).toEqual([]);
});

test(`no file is longer than ${longestFile} lines`, () => {
  expect(sources.filter(({ text }) => text.split("\n").length > longestFile).map(({ path }) => path)).toEqual([]);
});

test(`no function is longer than ${longestFunction} lines`, () => {
  const functions = sources.flatMap(({ path, text }) => functionsOf(path, text));
  const long = functions.filter(({ lines }) => lines > longestFunction);
  expect(long.map(({ file, name, lines }) => `${file}: ${name}, ${lines} lines`)).toEqual([]);
});

test(`no folder has more than ${largestFolder} files of code, except of tables`, () => {
  const folders = Map.groupBy(sources, ({ path }) => posix.dirname(path));
  folders.delete("diagnostics/codes");
  expect([...folders].filter(([, files]) => files.length > largestFolder).map(([folder]) => folder)).toEqual([]);
});

test.each(Object.entries(mostPerThousand))("comments of a room have few relative clauses with `%s`", (word, most) => {
  for (const [room, files] of Map.groupBy(sources, ({ path }) => roomOf(path))) {
    const words = files.flatMap(({ text }) => commentWords(text));
    const share = (1000 * words.filter((one) => one === word).length) / Math.max(1000, words.length);
    expect(share, room).toBeLessThanOrEqual(most);
  }
});

test("a tool's code is entered in the gate alone", () => {
  const uses = sources.flatMap(findExecuteUses);
  expect(uses.filter((use) => !use.startsWith("approval/gate.ts:") && !(use in otherExecutes))).toEqual([]);
  expect(uses.filter((use) => use.startsWith("approval/gate.ts:"))).toEqual(["approval/gate.ts: tool.execute"]);
});

test("the work of an effect is entered by `live` alone, and a toolset connected in such a work", () => {
  const uses = sources.flatMap(findEffectUses);
  // The suite for authors of toolsets has no run; the others that are not of runs connect to clients, a database and servers.
  expect(uses).toEqual([
    "doors/acp/agent.ts: app.connect",
    "effects/live.ts: effect.work",
    "postgres/database.ts: pool.connect",
    "runtime/connect/connections.ts: toolset.connect",
    "testing/toolset-conformance.ts: toolset.connect",
    "toolsets/mcp/server.ts: client.connect",
  ]);
});

test("only the gate makes gated toolsets and grants", () => {
  const forged = sources.flatMap(findForgedGrants);
  expect(forged.filter((one) => !one.startsWith("approval/gate.ts:"))).toEqual([]);
  expect(forged.length).toBeGreaterThan(0);
});

test("the loop knows toolsets only gated", () => {
  for (const path of loopFiles) {
    const code = sourceOf(path).text;
    for (const [, names = ""] of code.matchAll(/import (?:type )?\{([^}]*)\} from "\.\.\/toolsets\//g)) {
      expect(names, path).not.toMatch(/\b(?:Tool|Toolset)\b/);
    }
  }
  expect(sourceOf("runtime/config.ts").text).toContain("readonly toolsets: readonly GatedToolset[];");
});

// The tests above must be able to fail.

const fixture = { path: "runtime/fixture.ts", text: "" };

test.each([
  ['import { compile } from "../compile/compile.ts";', "`runtime` may not import `compile`"],
  ['import type { Compiled } from "../compile/compile.ts";', "`runtime` may not import `compile`"],
  ['export * from "../language/shape.ts";', "`runtime` may not import `language`"],
  ['const { filesystem } = await import("../toolsets/filesystem/filesystem.ts");', "may import of `toolsets` only"],
  ['import { parse } from "yaml";', "may not use the package yaml"],
  ['import { readFileSync } from "node:fs";', "`node:fs` belongs to cli and host"],
])("%s is refused", async (line, why) => {
  expect(await checkImports({ ...fixture, text: `// a comment\n${line}\n` }, rooms)).toEqual([expect.stringContaining(why)]);
});

test("types and lazy packages are told from the rest", async () => {
  const check = (path: string, text: string) => checkImports({ path, text }, rooms);
  expect(await check("schema/a.ts", 'import type { Ajv } from "ajv/dist/2020.js"; const ajv = import("ajv");')).toEqual([]);
  expect(await check("schema/a.ts", 'import { Ajv } from "ajv";')).toHaveLength(1);
  expect(await check("models/a.ts", 'import type { Host } from "../host/host.ts";')).toEqual([]);
  expect(await check("models/a.ts", 'import { glob } from "../host/glob.ts";')).toHaveLength(1);
  expect(await check("attic/a.ts", "")).toEqual(["attic/a.ts: the table has no room `attic`"]);
});

test("a remark in the table that means nothing is an error", () => {
  const head = "| room | duty | may import | npm packages |\n|---|---|---|---|\n";
  expect(() => readImportTable(`${head}| a | | b (sometimes) | none |\n`)).toThrow("sometimes means nothing");
  expect(() => readImportTable("no table")).toThrow("there is no table");
});

test.each([
  "const at = Date.now();",
  "const at = new Date();",
  "console.log(1);",
  "f(globalThis.process.env);",
  "await new Promise((done) => setTimeout(done, 1));",
  `const text = \`\${process.pid}\`;`,
  "const half = total / 2; process.exit(); const rest = total / 2;",
])("`%s` is found", (text) => {
  expect(findMachineUses({ ...fixture, text })).toHaveLength(1);
});

test.each([
  "// process.exit()",
  'const text = "console.log";',
  `const text = \`process \${a.process} console\`;`,
  "const pattern = /['\"]process/;",
  "interface Names { readonly process: string; console?: string }",
  "const at = new Date(first.time);",
])("`%s` is not", (text) => {
  expect(findMachineUses({ ...fixture, text })).toEqual([]);
});

test("blanked text keeps its length and its lines", () => {
  for (const { text } of sources) {
    const blanked = blankText(text);
    expect(blanked.length).toBe(text.length);
    expect(blanked.split("\n").length).toBe(text.split("\n").length);
  }
});

test("a second caller of a tool's code, and a forged grant, are found", () => {
  expect(findExecuteUses({ ...fixture, text: "await tool.execute(args, runtime);" })).toEqual([
    "runtime/fixture.ts: tool.execute",
  ]);
  expect(findExecuteUses({ ...fixture, text: "const { name, execute } = tool;" })).toHaveLength(1);
  expect(findEffectUses({ ...fixture, text: "await toolset.connect?.(config); effect.work();" })).toEqual([
    "runtime/fixture.ts: toolset.connect",
    "runtime/fixture.ts: effect.work",
  ]);
  expect(findForgedGrants({ ...fixture, text: "const open = {} as unknown as GatedToolset;" })).toHaveLength(1);
});

test("cycles are found", () => {
  expect(findCycle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]]))).toEqual(["b", "c", "b"]); // biome-ignore format: a graph
  expect(findCycle(new Map([["a", ["b", "c"]], ["b", ["c"]]]))).toBeUndefined(); // biome-ignore format: a graph
});

function sourceOf(path: string): SourceFile {
  const source = sources.find((candidate) => candidate.path === path);
  if (!source) throw new Error(`there is no ${path}`);
  return source;
}
