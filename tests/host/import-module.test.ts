import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ModuleSyntaxError } from "../../src/host/import-module.ts";
import { createNodeHost } from "../../src/host/node-host.ts";

const host = createNodeHost();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "llm-do-import-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

async function failure(path: string): Promise<Error & { code?: string }> {
  return host.importModule(join(folder, path)).then(
    () => expect.unreachable(),
    (error: Error) => error,
  );
}

describe("importModule, in a folder without a package", () => {
  test("runs TypeScript, finds zod, and takes ./x.js for ./x.ts, in helpers too", async () => {
    put({
      "tools.ts":
        'import { z } from "zod";\nimport { two } from "./deep/helper.js";\nexport const made = z.number().parse(two as number);',
      "deep/helper.ts":
        'import { one } from "./one.ts";\nimport * as z from "zod/v4";\nexport const two: number = one + z.number().parse(1);',
      "deep/one.ts": "export const one = 1 as const;",
    });
    expect(await host.importModule(join(folder, "tools.ts"))).toMatchObject({ made: 2 });
  });

  test("finds the running copy of zod", async () => {
    put({ "tools.mjs": 'export { z } from "zod";', "old.cjs": 'exports.z = require("zod").z;' });
    const { z } = await import("zod");
    expect((await host.importModule(join(folder, "tools.mjs")))["z"]).toBe(z);
    expect((await host.importModule(join(folder, "old.cjs")))["z"]).toBeTypeOf("object");
  });

  test("finds the running copies of llm-do and zod even if others are installed", async () => {
    put({
      "tools.ts":
        'import { tool } from "llm-do";\nimport { scriptedModel } from "llm-do/testing";\nimport z from "zod";\nexport const all = [typeof tool, typeof scriptedModel, typeof z.object];',
      "node_modules/llm-do/package.json": '{"name":"llm-do","type":"module","exports":{".":"./a.js","./testing":"./a.js"}}',
      "node_modules/llm-do/a.js": "throw new Error('planted');",
      "node_modules/zod/package.json": '{"name":"zod","type":"module","exports":"./z.js"}',
      "node_modules/zod/z.js": "throw new Error('planted');",
    });
    expect((await host.importModule(join(folder, "tools.ts")))["all"]).toEqual(["function", "function", "function"]);
  });

  test("tells where a program runs that lies in node_modules", async () => {
    put({ "node_modules/thing/tools.ts": "export const a: number = 1;" });
    expect((await failure("node_modules/thing/tools.ts")).message).toContain(
      "Copy the program to a folder outside of node_modules",
    );
  });

  test("leaves modules in node_modules alone", async () => {
    put({
      "tools.ts": 'export * from "thing";',
      "node_modules/thing/package.json": '{"name":"thing","type":"module","exports":"./index.js"}',
      "node_modules/thing/index.js": 'export * from "zod";',
    });
    expect(await failure("tools.ts")).toMatchObject({ code: "ERR_MODULE_NOT_FOUND" });
  });

  test("runs modules in a package of type commonjs", async () => {
    put({
      "package.json": '{"type":"commonjs"}',
      "tools.ts": 'import { helped } from "./helper.js";\nexport const value: number = helped;',
      "helper.ts": "export const helped: number = 4;",
    });
    expect(await host.importModule(join(folder, "tools.ts"))).toMatchObject({ value: 4 });
  });

  test("runs modules in a package without a type, and says nothing of it", async () => {
    put({
      "package.json": "{}",
      "tools.ts": 'import { helped } from "./helper.js";\nexport const value: number = helped;',
      "helper.ts": 'import { more } from "./more.js";\nexport const helped: number = more;',
      "more.js": "export const more = 4;",
    });
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on("warning", listen);
    expect(await host.importModule(join(folder, "tools.ts"))).toMatchObject({ value: 4 });
    await new Promise(setImmediate);
    process.off("warning", listen);
    expect(warnings).toEqual([]);
  });

  test("accepts names with blanks, percent signs and letters of all kinds", async () => {
    put({ "a b%20#é/tools ?.ts": 'export { x } from "./other one.js";', "a b%20#é/other one.ts": "export const x = 1;" });
    expect(await host.importModule(join(folder, "a b%20#é/tools ?.ts"))).toMatchObject({ x: 1 });
  });
});

describe("errors of modules", () => {
  test.each([
    ["enum", "export enum Colour { Red }"],
    ["parameter property", "export class A { constructor(private x: number) {} }"],
    ["namespace", "export namespace N { export const x = 1; }"],
  ])("%s: says where, and what to do", async (_, code) => {
    put({ "tools.ts": 'export * from "./part.ts";', "part.ts": `// first line\n${code}\n` });
    const error = await failure("tools.ts");
    expect(error).toBeInstanceOf(ModuleSyntaxError);
    expect(error).toMatchObject({ file: join(folder, "part.ts"), line: 2, hint: expect.stringContaining("const object") });
    expect(error.message).toContain(`${join(folder, "part.ts")}:2: `);
  });

  test("reports the place of broken syntax", async () => {
    put({ "tools.ts": "export const x = ;\n" });
    expect(await failure("tools.ts")).toMatchObject({ file: join(folder, "tools.ts"), line: 1 });
  });

  test("keeps the stack of errors that the module throws", async () => {
    put({ "tools.ts": 'interface X {}\nfunction fail(): X {\n  throw new RangeError("mine");\n}\nfail();\nexport {};' });
    const error = await failure("tools.ts");
    expect(error).toBeInstanceOf(RangeError);
    expect(error.stack).toContain(`${join(folder, "tools.ts")}:3`);
  });

  test("reports a missing module", async () => {
    put({ "tools.ts": 'import "./missing.js";', "other.ts": 'import "llm-do-extra";' });
    expect(await failure("tools.ts")).toMatchObject({
      code: "ERR_MODULE_NOT_FOUND",
      message: expect.stringContaining("missing.js"),
    });
    expect(await failure("other.ts")).toMatchObject({ code: "ERR_MODULE_NOT_FOUND" });
    expect(await failure("nothing.ts")).toMatchObject({ code: "ERR_MODULE_NOT_FOUND" });
  });
});

describe("llm-do from a copy that is no dependency", () => {
  test.each([
    ["with exports", { ".": "./dist/index.js", "./toolsets": "./dist/toolsets.js" }, "index toolsets"],
    ["without exports", undefined, "index ERR_MODULE_NOT_FOUND"],
  ])("%s", (_, exports, expected) => {
    const source = join(import.meta.dirname, "../../src");
    for (const room of ["host", "protocol", "util"])
      cpSync(join(source, room), join(folder, "copy/src", room), { recursive: true });
    put({
      "copy/package.json": JSON.stringify({ name: "llm-do", type: "module", exports }),
      "copy/src/index.ts": 'export const name: string = "index";',
      "copy/src/toolsets.ts": 'export const name: string = "toolsets";',
      "copy/run.js": `
        import { createNodeHost } from "./src/host/node-host.ts";
        const found = await createNodeHost().importModule(process.argv[2]);
        console.log(found.name, await found.sub());`,
      "elsewhere/tools.ts":
        'export { name } from "llm-do";\nexport const sub = () => import("llm-do/toolsets").then((m) => m.name, (error) => error.code);',
    });
    const args = [join(folder, "copy/run.js"), join(folder, "elsewhere/tools.ts")];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe(`${expected}\n`);
  });
});

test("leaves other modules of the process alone, and prints nothing", () => {
  put({
    "app.mjs": `
      import { createNodeHost } from ${JSON.stringify(new URL("../../src/host/node-host.ts", import.meta.url).href)};
      const { ok } = await createNodeHost().importModule(${JSON.stringify("FOLDER/program/tools.ts")}.replace("FOLDER", import.meta.dirname));
      const code = await import("zod").catch((error) => error.code);
      console.log(ok, code);`,
    "program/tools.ts": 'import { z } from "zod";\nexport const ok: boolean = z.boolean().parse(true);',
  });
  const output = execFileSync(process.execPath, [join(folder, "app.mjs")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(output).toBe("true ERR_MODULE_NOT_FOUND\n");
});
