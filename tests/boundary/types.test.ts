import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin } from "../cli/run-cli.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "llm-do-types-"));

const files = {
  "package.json": '{ "type": "module" }',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      ...{ strict: true, module: "nodenext", target: "es2024", noEmit: true, skipLibCheck: true, types: [] },
      ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true },
    },
    include: ["*.ts"],
  }),
  "main.worker": "---\ntoolsets: { sort_all: {} }\n---\nSort them.\n",
  "triage.worker":
    "---\ndescription: Sorts a message.\ninput: { message: string }\noutput: { kind(enum): [bug, wish], urgent: boolean }\n---\nSort it.\n",
  "tools.ts": `import { tool } from "llm-do";
import { z } from "zod";
export const shout = tool({ description: "Shouts.", input: z.object({ text: z.string() }), run: ({ text }) => text.toUpperCase() });
export const sort_all = tool({
  description: "Sorts all.",
  input: z.object({ messages: z.array(z.string()) }),
  calls: ["triage", "shout"],
  run: async ({ messages }, runtime) => {
    const first = await runtime.call("triage", { message: messages[0] ?? "" });
    const kind: "bug" | "wish" = first.kind;
    await runtime.call("shout", { text: kind });
    return first.urgent ? kind : null;
  },
});
`,
};

beforeAll(() => {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/llm-do"), "junction");
  symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"), "junction");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function llmDo(...args: readonly string[]) {
  const env = { PATH: process.env["PATH"] ?? "", LLM_DO_STATE_DIR: join(folder, "state"), NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: "utf8", env });
  return { status, stdout, stderr };
}

function compileTypes(): string {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", "."], { cwd: folder, encoding: "utf8" }).stdout;
}

describe("llm-do types", () => {
  it("types calls by name in the program's code, and finds what does not fit", () => {
    expect(compileTypes()).toContain("tools.ts(10,");
    expect(llmDo("types", "--trust")).toEqual({ status: 0, stdout: "llm-do.d.ts\n", stderr: "" });
    expect(compileTypes()).toBe("");
    writeFileSync(join(folder, "tools.ts"), files["tools.ts"].replace("{ message: messages", "{ massage: messages"));
    expect(compileTypes()).toMatch(/tools\.ts\(9,.*'massage' does not exist/);
    writeFileSync(join(folder, "tools.ts"), files["tools.ts"].replace('"bug" | "wish"', '"bug"'));
    expect(compileTypes()).toMatch(/tools\.ts\(10,.*"wish"/);
    writeFileSync(join(folder, "tools.ts"), files["tools.ts"]);
  }, 120_000);

  it("says with --check where the file is old, and writes nothing", () => {
    llmDo("types", "--trust");
    expect(llmDo("types", "--trust", "--check")).toEqual({ status: 0, stdout: "", stderr: "" });
    const worker = files["triage.worker"];
    writeFileSync(join(folder, "triage.worker"), worker.replace("[bug, wish]", "[bug, wish, question]"));
    const before = readFileSync(join(folder, "llm-do.d.ts"), "utf8");
    expect(llmDo("types", "--trust", "--check")).toEqual({
      ...{ status: 1, stdout: "" },
      stderr: "llm-do: llm-do.d.ts is old: run llm-do types\n",
    });
    expect(readFileSync(join(folder, "llm-do.d.ts"), "utf8")).toBe(before);
    writeFileSync(join(folder, "triage.worker"), worker);
    rmSync(join(folder, "llm-do.d.ts"));
    expect(llmDo("types", "--trust", "--check").stderr).toBe("llm-do: llm-do.d.ts is missing: run llm-do types\n");
  }, 60_000);

  it("runs no code of an untrusted folder, and says in the file what it does not know", () => {
    writeFileSync(
      join(folder, "tools.ts"),
      `${files["tools.ts"]}import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\n`,
    );
    expect(llmDo("types")).toMatchObject({ status: 0, stdout: "llm-do.d.ts\n" });
    expect(readFileSync(join(folder, "llm-do.d.ts"), "utf8")).toContain("// The folder is not trusted");
    expect(() => readFileSync(join(folder, "ran"))).toThrow("ENOENT");
    writeFileSync(join(folder, "tools.ts"), files["tools.ts"]);
  }, 60_000);

  it("overwrites no file that it has not written", () => {
    writeFileSync(join(folder, "llm-do.d.ts"), "export {};\n");
    const { status, stderr } = llmDo("types", "--trust");
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining("was not written by llm-do types") });
    expect(readFileSync(join(folder, "llm-do.d.ts"), "utf8")).toBe("export {};\n");
  }, 60_000);

  it("ends with 2 and the mistakes where the program has some", () => {
    writeFileSync(join(folder, "broken.worker"), "---\ninputt: {}\n---\nx\n");
    expect(llmDo("types", "broken.worker")).toMatchObject({ status: 2, stderr: expect.stringContaining("unknown-key") });
    rmSync(join(folder, "broken.worker"));
  }, 60_000);
});
