import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { approveAll, attack, outcome, World } from "../world.ts";

const scope = "sandbox: { paths: { w: { root: .., mode: rw, write_approval: false } } }";
const main = (toolsets: string, text = "Go.") =>
  `---\ndescription: x\ntoolsets: { filesystem: {}${toolsets} }\n${scope}\n---\n${text}\n`;

interface CodeRow {
  /** Files of the world, the program in `program`. */
  readonly files: Readonly<Record<string, string>>;
  readonly links?: readonly (readonly [from: string, to: string])[];
  /** Where the model writes, in the world. */
  readonly at: string;
  /** A statement that shows that the code ran, in the place of `evil` in this text. */
  readonly content?: string;
}

const withTool = main(", t: {}");
const toolOf = (imports: string) =>
  `import { tool } from "llm-do";\n${imports}\nexport const t = tool({ description: "x", input: { type: "object" }, run: () => 1 });\n`;
const cjs = "evil; exports.x = 1;\n";
const linked = (description: object, more: Readonly<Record<string, string>> = {}) => ({
  "packages/linked/package.json": JSON.stringify({ name: "linked", version: "1.0.0", ...description }),
  ...more,
});
const links = [["program/node_modules/linked", "packages/linked"]] as const;

/** What is written would run in a later run of the same program. */
const code: Readonly<Record<string, CodeRow>> = {
  "what `createRequire` loads under another name": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf(
        'import { createRequire } from "node:module";\nconst load = createRequire(import.meta.url);\nload("./lib/c.cjs");',
      ),
      "program/lib/c.cjs": "exports.x = 1;\n",
    },
    at: "program/lib/c.cjs",
    content: cjs,
  },
  "the module of a thread": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf(
        'import { Worker } from "node:worker_threads";\nawait new Promise((done) => new Worker(new URL("./thread.mjs", import.meta.url)).on("exit", done));',
      ),
      "program/thread.mjs": "export {};\n",
    },
    at: "program/thread.mjs",
  },
  "what `import.meta.resolve` leads to": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('const place = import.meta.resolve("./late.mjs");\nawait import(place);'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an import in a template without a hole": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf("await import(`./late.mjs`);"),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an import with a query": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./late.mjs?v=1";'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an escaped character in an import": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./l\\u0061te%2Emjs";'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "the `main` of a folder that is required": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'require("./lib");\n',
      "program/lib/package.json": '{"main":"real.js"}',
      "program/lib/real.js": "exports.x = 1;\n",
    },
    at: "program/lib/real.js",
    content: cjs,
  },
  "what `export … from` names, two modules away": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('export * as one from "./one.ts";'),
      "program/one.ts": 'export { two } from "./deep/two.mts";\n',
      "program/deep/two.mts": "export const two: number = 2;\n",
    },
    at: "program/deep/two.mts",
    content: "evil; export const two: number = 2;\n",
  },
  "an imported type's neighbour that is no type": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import { type A, b } from "./b.ts";\nvoid b;\nvoid (0 as unknown as A);'),
      "program/b.ts": "export type A = 1;\nexport const b = 1;\n",
    },
    at: "program/b.ts",
    content: "export type A = 1; export const b = 1; evil;\n",
  },
  "a linked package whose `main` is TypeScript": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({ type: "module", main: "src/index.ts" }, { "packages/linked/src/index.ts": "export {};\n" }),
    },
    links,
    at: "packages/linked/src/index.ts",
  },
  "a linked package whose `main` is a folder": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({ main: "lib" }, { "packages/linked/lib/index.js": "exports.x = 1;\n" }),
    },
    links,
    at: "packages/linked/lib/index.js",
    content: cjs,
  },
  "a linked package without `main`": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({}, { "packages/linked/index.js": "exports.x = 1;\n" }),
    },
    links,
    at: "packages/linked/index.js",
    content: cjs,
  },
  "what a linked package gives to `require` alone": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'require("linked");\n',
      ...linked(
        { exports: { ".": { import: "./esm.mjs", require: "./cjs.cjs" } } },
        { "packages/linked/esm.mjs": "export {};\n", "packages/linked/cjs.cjs": "exports.x = 1;\n" },
      ),
    },
    links,
    at: "packages/linked/cjs.cjs",
    content: cjs,
  },
  "the longer of two patterns of a linked package's `exports`": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked/features/a";'),
      ...linked(
        { type: "module", exports: { "./*": "./any/*.js", "./features/*": "./own/*.js" } },
        { "packages/linked/own/a.js": "export {};\n" },
      ),
    },
    links,
    at: "packages/linked/own/a.js",
  },
  "what `#name` means by a condition of Node": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "#late";'),
      "program/package.json": '{"type":"module","imports":{"#late":{"node-addons":"./addons.mjs","default":"./late.mjs"}}}',
      "program/late.mjs": "export {};\n",
      "program/addons.mjs": "export {};\n",
    },
    at: "program/addons.mjs",
  },
  "the module of a linked package that workers come from": {
    files: {
      "program/main.worker": main(', "linked:helper.worker": {}'),
      "program/package.json": '{"dependencies":{"linked":"1"}}',
      "packages/linked/helper.worker": "---\ndescription: y\ntoolsets: { two: {} }\n---\nHelp.\n",
      "packages/linked/two.worker": "---\ndescription: z\n---\nHelp.\n",
      ...linked({ type: "module" }),
    },
    links,
    at: "packages/linked/tools.js",
  },
  "a package that is found further up": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "dep";'),
      "node_modules/dep/package.json": '{"name":"dep","type":"module","exports":"./i.js"}',
      "node_modules/dep/i.js": "export {};\n",
    },
    at: "program/node_modules/dep/index.js",
    content: cjs,
  },
  "a file for a folder of packages": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'try { require("dep"); } catch {}\n',
    },
    at: "node_modules/dep.js",
    content: cjs,
  },
  "folders of packages behind a link": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "dep";'),
      "shared/dep/package.json": '{"name":"dep","type":"module","exports":"./i.js"}',
      "shared/dep/i.js": "export {};\n",
    },
    links: [["program/node_modules", "shared"]],
    at: "shared/dep/i.js",
  },
  "the module behind a link": {
    files: {
      "program/main.worker": withTool,
      "program/real/tools.ts": toolOf(""),
    },
    links: [["program/tools.ts", "program/real/tools.ts"]],
    at: "program/real/tools.ts",
    content: `evil;\n${toolOf("")}`,
  },
  "an import of a program whose folder is behind a link": {
    files: {
      "store/main.worker": withTool,
      "store/tools.ts": toolOf('import "./lib/late.mjs";'),
      "store/lib/late.mjs": "export {};\n",
    },
    links: [["program", "store"]],
    at: "store/lib/late.mjs",
  },
};

/** Shows in this process, under a name of the row's own, that the code ran. */
function contentOf({ content = "evil; export {};\n" }: CodeRow, mark: string): string {
  return content.replace("evil;", `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`);
}

function toModule(row: CodeRow, mark: string): string {
  const text = contentOf(row, mark);
  const isCommonJs = /\bexports\./.test(text);
  return isCommonJs ? text : `import { createRequire as r } from "node:module"; const require = r("/");\n${text}`;
}

function createWorld({ files, links: wanted = [] }: Pick<CodeRow, "files" | "links">): World {
  const world = new World({});
  for (const [path, text] of Object.entries(files)) world.put(path, text);
  for (const [from, to] of wanted) {
    mkdirSync(dirname(world.at(from)), { recursive: true });
    symlinkSync(world.at(to), world.at(from));
  }
  return world;
}

const write = (path: string, content = "evil") => ({ tool: "write_file", args: { path: `w/${path}`, content } });

describe("code of a program", { timeout: 60_000 }, () => {
  test.each(Object.entries(code))("%s: runs where it is put by hand, and is written by no file tool", async (_, row) => {
    const open = createWorld(row);
    const mark = open.at("ran");
    open.put(row.at, toModule(row, mark));
    const planted = await attack(open, { model: [] });
    expect(existsSync(mark), String(planted.error)).toBe(true);

    const world = createWorld(row);
    const before = existsSync(world.at(row.at)) ? world.read(row.at) : undefined;
    const { results, error } = await attack(world, {
      model: [[write(row.at, toModule(row, world.at("ran")))]],
      approval: approveAll,
    });
    expect(error).toBeUndefined();
    expect(existsSync(world.at(row.at)) ? world.read(row.at) : undefined, results.map(outcome).join()).toBe(before);
  });

  test("what only stands beside it is written without a question", async () => {
    const world = createWorld({
      files: {
        "program/main.worker": withTool,
        "program/tools.ts": toolOf(
          'import type { A } from "./types.ts";\nimport "linked";\nexport const place = "./notes.md";\nvoid (0 as unknown as A);',
        ),
        "program/types.ts": "export type A = 1;\n",
        ...linked({ exports: { ".": "./a.js", "./b": "./b.js" } }, { "packages/linked/a.js": "", "packages/linked/b.js": "" }),
      },
      links,
    });
    const paths = [
      "program/types.ts",
      "program/notes.md",
      "packages/linked/b.js",
      "packages/linked/src/c.ts",
      "packages/x/package.md",
    ];
    const { results, error } = await attack(world, {
      model: [paths.map((path) => write(path))],
      approval: { mode: "reject_all" },
    });
    expect(error).toBeUndefined();
    expect(paths.map((path, index) => [path, outcome(results[index] as never)])).toEqual(paths.map((path) => [path, "ok"]));
    for (const path of paths) expect(world.read(path)).toBe("evil");
  });
});
