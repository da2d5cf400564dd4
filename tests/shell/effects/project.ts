import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ScopeDeclaration } from "../../../src/host/scopes/scopes.ts";

/** A real project, for real programs. */
export interface Project {
  readonly root: string;
  readonly scopes: readonly ScopeDeclaration[];
  remove(): void;
}

const files: Readonly<Record<string, string>> = {
  "README.md": "# x\n\na b c\n",
  "package.json": JSON.stringify({
    name: "project",
    version: "1.0.0",
    scripts: { test: "node --test src/sum.test.mjs", build: "tsc --outDir dist" },
  }),
  "tsconfig.json": '{ "include": ["src/sum.ts"], "compilerOptions": { "rootDir": "src", "types": [], "skipLibCheck": true } }\n',
  "src/sum.ts": "export const add = (a: number, b: number): number => a + b;\n",
  "src/loose.ts": "export   const y=1\n",
  "src/sum.js": "export const add = (a, b) => a + b;\n",
  "src/sum.test.mjs": 'import test from "node:test";\ntest("sum", () => {});\n',
  "src/sum.test.ts":
    'import { expect, test } from "vitest";\nimport { add } from "./sum";\ntest("sum", () => expect(add(1, 2)).toBe(3));\n',
  "src/sum.mocha.cjs": 'it("sums", () => {});\n',
  "src/sum.jest.cjs": 'test("sums", () => {});\n',
  "jest.config.cjs": 'module.exports = { testMatch: ["**/*.jest.cjs"] };\n',
  "webpack.config.cjs": 'module.exports = { entry: "./src/sum.js", cache: { type: "filesystem" } };\n',
  "eslint.config.mjs": "export default [{}];\n",
  "vitest.config.mjs": 'export default { test: { include: ["src/sum.test.ts"] } };\n',
  "index.html": '<script type="module" src="/src/sum.js"></script>\n',
  Makefile: "all:\n\t@echo made\ncheck:\n\t@grep -q x README.md\ndist:\n\tmkdir dist && cp README.md dist\n",
  "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x NONE)\n",
  "sum.py": '"""\n>>> add(1, 2)\n3\n"""\n\n\ndef add(a, b):\n    return a + b\n',
  "test_sum.py":
    "import unittest\nimport sum\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        assert sum.add(1, 2) == 3\n",
  "go.mod": "module project\n\ngo 1.19\n",
  "main.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println( "x" ) }\n',
  "main_test.go": 'package main\n\nimport "testing"\n\nfunc TestX(t *testing.T) {}\n',
  "lib.rs": "pub fn add(a: i32) -> i32 { a }\n",
  "a.patch": "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# x\n+# y\n",
  ".gitignore": "node_modules\ndist\ncoverage\n",
};

/** Folders of packages: this repository's, and another one that `LLM_DO_PACKAGES` names. */
const packages = [process.env["LLM_DO_PACKAGES"], resolve(import.meta.dirname, "../../../node_modules")].filter(
  (folder) => folder !== undefined && existsSync(folder),
) as readonly string[];

export function createProject(): Project {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-project-")));
  const root = join(outer, "project");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  for (const folder of packages) linkPackages(folder, join(root, "node_modules"));
  const run = (line: string) => execFileSync("bash", ["-c", line], { cwd: root, stdio: "ignore" });
  run("tar -cf a.tar README.md");
  run("sqlite3 app.db 'create table t(a); insert into t values (1)' || touch app.db");
  run("git init -q -b main && git config user.name a && git config user.email a@b && git add -A && git commit -qm one");
  run("git switch -qc topic && echo z > z && git add z && git commit -qm z && git switch -q main");
  run("echo two > b && git add b && git commit -qm two");
  return {
    root,
    scopes: [
      { name: "project", root, mode: "rw" },
      ...packages.map((folder, index): ScopeDeclaration => ({ name: `packages${index}`, root: folder, mode: "ro" })),
    ],
    remove: () => rmSync(outer, { recursive: true, force: true }),
  };
}

/** Each package by a link: a tool that writes beside them, as vite does, writes in the project. */
function linkPackages(from: string, to: string): void {
  mkdirSync(join(to, ".bin"), { recursive: true });
  const names = readdirSync(from).filter((name) => !name.startsWith("."));
  for (const name of [...names, ...readdirSync(join(from, ".bin")).map((program) => `.bin/${program}`)]) {
    if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
  }
}
