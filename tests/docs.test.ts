import { spawnSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anchorsOf, type Block, commandLinesOf, linksOf, proseOf, readBlocks } from "../scripts/check-docs.ts";
import { readingEase } from "../scripts/reading-ease.ts";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { createProgram, withDescendants } from "../src/cli/grammar/program.ts";
import { compile } from "../src/index.ts";
import { retryableByCode } from "../src/models/model.ts";
import { builtInProviders } from "../src/models/providers/providers.ts";
import { parseScriptRules } from "../src/models/scripted/parse-script-rules.ts";

/*
 * Nothing is documented that is not so. Blocks with `file=NAME` make one program of their document; the others stand
 * alone. CONTRIBUTING.md says which marks a block can have.
 */

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "llm-do-docs-"));
const documents = globSync(["*.md", "docs/**/*.md", "examples/*/README.md"], { cwd: root })
  .map((path) => path.replaceAll("\\", "/"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

interface Placed extends Block {
  /** `docs/library.md:12`. */
  readonly place: string;
  /** Path that it was written to. */
  readonly file: string;
  readonly output: string | undefined;
  /** Expected stderr; empty by default. */
  readonly messages: string;
}

const blocks = documents.flatMap(({ path, text }): Placed[] => {
  const all = readBlocks(text);
  const program = join(folder, path.replace(/\W+/g, "-"));
  return all.map((block, index) => {
    const named = block.marks.get("file");
    const loose = block.language === "worker" ? `block-${index}/example.worker` : `block-${index}.${block.language}`;
    const next = all[index + 1];
    const output = next?.marks.has("stdout") ? next.text : undefined;
    const messages = next?.marks.has("stderr") ? next.text : "";
    const same = block.marks.get("same");
    const file = same === undefined ? join(program, named ?? loose) : join(root, same);
    return { ...block, place: `${path}:${block.line}`, file, output, messages };
  });
});

const workers = blocks.filter(({ language }) => language === "worker");
const typescript = blocks.filter(({ language }) => language === "ts");
const programs = typescript.filter(({ marks }) => marks.has("run"));
const lines = blocks.filter(({ language, marks }) => language === "sh" && marks.has("run"));

beforeAll(() => {
  const installed = join(folder, "node_modules");
  mkdirSync(installed);
  symlinkSync(root, join(installed, "llm-do"), "junction");
  for (const name of ["zod", "ai", "@ai-sdk", "@types"])
    symlinkSync(join(root, "node_modules", name), join(installed, name), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const written = [...workers, ...typescript, ...blocks.filter(({ marks }) => marks.has("file"))];
  for (const { file, text } of written.filter(({ marks }) => !marks.has("same"))) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("there is something to check", () => {
  expect(documents.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/library.md"]),
  );
  expect([workers, typescript, programs].map(({ length }) => length > 0)).toEqual([true, true, true]);
});

test("blocks that show a file of the repository show it as it is", () => {
  const shown = blocks.filter(({ marks }) => marks.has("same"));
  expect(shown.length).toBeGreaterThan(0);
  for (const { file, text, place } of shown) expect(text, place).toBe(readFileSync(file, "utf8"));
});

describe("worker files compile", () => {
  test.each(workers)("$place", async ({ file, marks }) => {
    const { diagnostics } = await compile({ target: file, trust: true });
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const expected = marks.get("error");
    if (expected === undefined) expect(errors.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    else expect(errors.map(({ code }) => code)).toContain(expected);
  });
});

test("TypeScript type-checks", () => {
  const options = {
    rootDir: resolve(folder, "/"),
    noUnusedLocals: false,
    moduleDetection: "force",
    typeRoots: ["node_modules/@types"],
  };
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: options,
    include: ["**/*.ts"],
    exclude: ["node_modules"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  const places = new Map(typescript.map(({ file, place }) => [relative(folder, file).replaceAll("\\", "/"), place]));
  expect(stdout.replace(/^[^\s(]+/gm, (file) => places.get(file) ?? file)).toBe("");
}, 180_000);

describe("programs run, and print what they are said to print", () => {
  test.each(programs)("$place", ({ file, output }) => {
    const { LLM_DO_MODEL: _, ...environment } = process.env;
    const options = { cwd: dirname(file), encoding: "utf8", env: { ...environment, NODE_OPTIONS: "" } } as const;
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], options);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    if (output !== undefined) expect(stdout).toBe(output);
  });
});

describe("command lines run, and print what they are said to print", () => {
  test.each(lines)("$place", ({ file, text, output, messages, marks }) => {
    const [args = []] = commandLinesOf(text);
    const env = { PATH: process.env["PATH"], HOME: folder, LLM_DO_STATE_DIR: join(folder, "state") };
    const options = { cwd: dirname(file), encoding: "utf8", env, input: "" } as const;
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, "bin/llm-do.js"), ...args], options);
    expect({ stderr, status }).toEqual({ stderr: messages, status: Number(marks.get("exit") ?? 0) });
    if (output !== undefined) expect(stdout).toBe(output);
  });
});

describe("command lines parse", () => {
  const lines = blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ text, place }) => commandLinesOf(text).map((args) => ({ place, args })));
  test.each(lines)("$place: llm-do $args", async ({ args }) => {
    expect(await parse(args)).toBe("");
  });

  test("a flag that does not exist is found", async () => {
    expect(await parse(["examples/x", "--aprove-all"])).toContain("--aprove-all");
    expect(await parse(["run", "examples/x", "-v", "--", "two", "words"])).toBe("");
  });
});

describe("links lead somewhere", () => {
  test.each(documents)("$path", ({ path, text }) => {
    for (const link of linksOf(text)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [target = "", anchor] = link.split("#");
      const file = target === "" ? join(root, path) : resolve(root, dirname(path), target);
      expect(existsSync(file), `${link} in ${path}`).toBe(true);
      if (anchor === undefined) continue;
      expect(statSync(file).isFile(), `${link} in ${path}`).toBe(true);
      expect([...anchorsOf(readFileSync(file, "utf8"))], `${link} in ${path}`).toContain(anchor);
    }
  });
});

/** Patterns that are wrong in any document: unfinished text, paths of one machine, praise in the place of facts. */
const forbidden = [
  /\b(?:TODO|FIXME|XXX|TBD|lorem ipsum|coming soon)\b/i,
  /(?<![\w.])\/(?:work|root|Users)\/\w/,
  /localhost:\d{4}\/?(?:repository|npm)|verdaccio|artifactory/i,
  /\b(?:blazing|seamless(?:ly)?|effortless(?:ly)?|cutting-edge|world-class|game-chang\w+|state-of-the-art|supercharge\w*|delve\w*)\b/i,
  /\bas an AI\b|generated (?:by|with) (?:an? )?(?:AI|LLM|assistant)|co-authored-by/i,
];

test.each(documents)("no forbidden words: $path", ({ text }) => {
  for (const pattern of forbidden) expect(text).not.toMatch(pattern);
  expect(proseOf(text)).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
});

test("flags and variables in the text exist", () => {
  const commands = withDescendants(createProgram({ exitCode: 0, afterDashes: undefined }));
  const flags = commands.flatMap(({ options }) => options.flatMap(({ long, short }) => [long, short]));
  const known = new Set([...flags, "-h", "--help", "-vv"]);
  // docs/shell.md is about the flags of other programs, and so is the first column of docs/coming-from.md.
  const textOf = (path: string, text: string) =>
    (path === "docs/coming-from.md" ? text.replace(/^\|[^|]*\|/gm, "") : text).replace(/^ *```[\s\S]*?^ *```/gm, "");
  const pages = documents.filter(
    ({ path }) => /^(?:README\.md|docs\/[\w-]+\.md|examples\/.*)$/.test(path) && path !== "docs/shell.md",
  );
  const spans = pages.flatMap(({ path, text }) =>
    [...textOf(path, text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => ({ path, code })),
  );
  const named = spans
    .filter(({ code }) => /^-|^(?:npx )?llm-do /.test(code))
    .flatMap(({ path, code }) => (code.match(/(?<![\w-])--?[a-zA-Z][\w-]*/g) ?? []).map((flag) => ({ path, flag })));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ flag }) => !known.has(flag))).toEqual([]);

  const sources = globSync("src/**/*.ts", { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"));
  const read = new Set(sources.flatMap((text) => text.match(/\bLLM_DO_[A-Z_]+/g) ?? []));
  // They mark processes that llm-do starts, and are read by nobody else.
  for (const mark of ["LLM_DO_COMMAND", "LLM_DO_SERVES"]) read.delete(mark);
  const page = documents.find(({ path }) => path === "docs/cli.md")?.text ?? "";
  expect([...read].filter((variable) => !page.includes(`\`${variable}\``))).toEqual([]);
  const mentioned = pages
    .filter(({ path }) => path !== "docs/maintainers/testing.md")
    .flatMap(({ text }) => text.match(/\bLLM_DO_[A-Z_]+/g) ?? []);
  expect(mentioned.filter((variable) => !read.has(variable))).toEqual([]);
});

test("docs/troubleshooting.md quotes messages that there are", () => {
  const text = (path: string) => documents.find((one) => one.path === path)?.text ?? "";
  const quoted = [...text("docs/troubleshooting.md").matchAll(/^### `(.+)`$/gm)].map(([, message = ""]) => message);
  const files = [...globSync("src/**/*.ts", { cwd: root }), "bin/llm-do.js"].filter((path) => !path.endsWith(".test.ts"));
  // Messages of providers are put together of parts; a test makes the page of failures of them.
  const sources = [...files.map((path) => readFileSync(join(root, path), "utf8")), text("docs/failures.md")];
  expect(quoted.length).toBeGreaterThan(15);
  expect(quoted.filter((message) => !sources.some((source) => source.includes(message)))).toEqual([]);
});

test("docs/scripts.md has every key of a script", () => {
  const text = documents.find(({ path }) => path === "docs/scripts.md")?.text ?? "";
  const base = { reply: "x" };
  const wrong = [
    [{ ...base, qqqqqq: 1 }],
    [{ ...base, expect: { qqqqqq: 1 } }],
    [{ reply: { qqqqqq: 1 } }],
    ...["calls", "serverCalls", "files"].map((key) => [{ reply: { [key]: [{ qqqqqq: 1 }] } }]),
    ...["usage", "error"].map((key) => [{ reply: { [key]: { qqqqqq: 1 } } }]),
  ];
  const faults = wrong.map((script) => faultOf(() => parseScriptRules(script)));
  const keys = faults.flatMap((fault) =>
    [...fault.replace(/^.*the keys are/, "").matchAll(/`(\w+)`/g)].map(([, key = ""]) => key),
  );
  expect(keys.length).toBeGreaterThan(30);
  for (const key of [...keys, ...Object.keys(retryableByCode)]) expect(text).toContain(`\`${key}\``);
});

function faultOf(read: () => unknown): string {
  try {
    read();
  } catch (thrown) {
    return String(thrown);
  }
  return "no fault";
}

test("the README is short, has links, and names no path without one", () => {
  expect(readme().split(/\s+/).length).toBeLessThanOrEqual(700);
  expect(linksOf(readme()).filter((link) => !/^https:/.test(link)).length).toBeGreaterThanOrEqual(15);
  const prose = readme().replace(/^```[\s\S]*?^```$/gm, "");
  expect(prose.match(/(?<![(\w/])(?:docs|examples)\/[\w./-]+/g) ?? []).toEqual([]);
});

test("the list of pages has each of them", () => {
  const linked = linksOf(pageOf("docs/pages.md")).map((link) => `docs/${link}`);
  const pages = globSync("docs/*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  expect(linked.toSorted()).toEqual(pages.filter((path) => path !== "docs/pages.md").toSorted());
});

/** Pages that are looked things up in, and not read from their beginning to their end. */
const references = ["cli", "diagnostics", "models", "worker-format"].map((name) => `docs/${name}.md`);
const pages = documents.filter(({ path }) => /^(?:README|docs\/[\w-]+)\.md$/.test(path));

test("a page that is read has at most 3,000 words", () => {
  const long = pages.filter(({ text }) => text.split(/\s+/).length > 3000).map(({ path }) => path);
  expect(long).toEqual(references);
});

// The list of pages alone has no example. A picture of what is printed or measured is one.
test.each(pages.filter(({ path }) => path !== "docs/pages.md"))("$path has its first example within one screen", ({ text }) => {
  const before = text.split("\n").findIndex((line) => /^(?:```|!\[)/.test(line));
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThanOrEqual(30);
});

/** READMEs of `llm`, BAML and promptfoo: 51.6, 69.8 and 52.5, by the same script, in November 2026. */
const easeOfOthers = 70;

test.each(["README.md", "docs/first-steps.md", "docs/tutorial.md", "docs/approval.md", "docs/unattended.md"])(
  "%s reads as easily as the first pages of others",
  (path) => expect(readingEase(pageOf(path))).toBeGreaterThan(easeOfOthers),
);

test("docs/cli.md names every exit code", () => {
  const section = pageOf("docs/cli.md").split("## Exit codes")[1] ?? "";
  const codes = [...section.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(exitCodes));
});

test("docs/models.md names every provider, and the variable of its key", () => {
  const providers = pageOf("docs/models.md").split("\n## Providers")[1]?.split("\n## ")[0] ?? "";
  const rows = new Map([...providers.matchAll(/^\| `([\w-]+)` +\|(.*)$/gm)].map(([, name, needs]) => [name, needs]));
  expect([...rows.keys()].sort()).toEqual(builtInProviders.map(({ name }) => name).sort());
  for (const { name, keyVariables } of builtInProviders)
    for (const variable of keyVariables) expect(rows.get(name)).toContain(variable);
});

// Tests of the reading itself.

test("blocks, marks, links and command lines are read", () => {
  const markdown = "# A `b`!\n\n1. x\n\n   ```ts file=a.ts run\n   x();\n   ```\n\n[a](b.md#c) `[no](link)`\n";
  const [block] = readBlocks(markdown);
  expect(block).toMatchObject({ language: "ts", line: 5, text: "x();\n" });
  expect([...(block?.marks ?? [])]).toEqual([["file", "a.ts"], ["run", ""]]); // biome-ignore format: pairs
  expect(linksOf(markdown)).toEqual(["b.md#c"]);
  expect([...anchorsOf(markdown)]).toEqual(["a-b"]);
  expect(
    commandLinesOf('A=1 npx llm-do x "a b" \\\n  -v < /dev/null 2> log # llm-do y\nnpm test && llm-do check; echo $?\n'),
  ).toEqual([["x", "a b", "-v"], ["check"]]);
});

function readme(): string {
  return pageOf("README.md");
}

function pageOf(path: string): string {
  return documents.find((one) => one.path === path)?.text ?? "";
}

/** Returns what the command line's grammar reports of some arguments; empty where they fit. Runs nothing. */
async function parse(args: readonly string[]): Promise<string> {
  const said: string[] = [];
  const dashes = args.indexOf("--");
  const words = dashes < 0 ? args : args.slice(0, dashes);
  const program = createProgram({ exitCode: 0, afterDashes: dashes < 0 ? undefined : args.slice(dashes + 1) });
  for (const command of withDescendants(program)) {
    command.configureOutput({ writeErr: (text) => said.push(text), writeOut: () => undefined });
    if (command.commands.length === 0) command.action(() => undefined);
  }
  await program.parseAsync(words, { from: "user" }).catch((thrown: { readonly exitCode?: number; readonly message: string }) => {
    if (thrown.exitCode !== 0) said.push(thrown.message);
  });
  return said.join("");
}
