import { basename, dirname, join, relative, resolve } from "node:path";
import { CaseLineError, expectedOutput, parseCase } from "../boundary/case-file.ts";
import { CompileError } from "../compile/compile-error.ts";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source, Spanned } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { listFiles } from "../host/scratch-folder.ts";
import type { TestCaseSyntax } from "../language/shapes/test-shape.ts";
import { parseTestFile } from "../language/test-file.ts";
import type { Outline } from "../protocol/outline.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import { isWithin } from "../util/within.ts";

/** A test file and what it tests. */
export interface TestSuite {
  /** As shown to people: relative to the working directory. */
  readonly file: string;
  /** Absolute path of its folder. */
  readonly folder: string;
  /** Absolute path of the tested program or worker. */
  readonly target: string;
  readonly cases: readonly TestCaseSyntax[];
}

export const testSuffix = ".test.yaml";

/** There is nothing to test. */
export class NoTests extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoTests";
  }
}

/**
 * Reads the test files of a target: a test file, a worker file with one beside it, or a folder with all below it. Rejects with a
 * `CompileError` that has all mistakes of all files, and with `NoTests`.
 */
export async function readTestSuites(host: Host, target: string): Promise<readonly TestSuite[]> {
  const { suites, diagnostics } = await findTestSuites(host, target);
  if (suites.length === 0 && diagnostics.length === 0)
    throw new NoTests(`there is no *${testSuffix} in ${target}; a test of main.worker is main${testSuffix}`);
  if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  return suites;
}

export interface FoundSuites {
  /** Without the cases that could not be read. */
  readonly suites: readonly TestSuite[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the test files of a target, as `readTestSuites` does. Rejects with `NoTests` for a target that can have none. */
export async function findTestSuites(host: Host, target: string): Promise<FoundSuites> {
  const { paths, diagnostics: named } = await findTestFiles(host, resolve(host.workingDirectory, target));
  const read = await Promise.all(paths.map((path) => readSuite(host, path)));
  return { suites: read.map(({ suite }) => suite), diagnostics: [...named, ...read.flatMap((one) => one.diagnostics)] };
}

/** Folders in which no tests are looked for, beside those of skills: what lies there is somebody else's. */
const passedOver = /(?:^|\/)(?:node_modules|\.[^/]*)\//;

/** A name that an author probably took for that of a test file. */
const lookAlike = /[._-](?:tests?|spec|cases)\.(?:ya?ml|json)$/i;

/** The test files of a target, and the reports of files that are named nearly like one. */
interface FoundFiles {
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

async function findTestFiles(host: Host, path: string): Promise<FoundFiles> {
  const kind = await host.files.kind(path);
  const found = (...paths: string[]): FoundFiles => ({ paths, diagnostics: [] });
  if (kind === "file" && path.endsWith(testSuffix)) return found(path);
  if (kind === "file" && path.endsWith(".worker")) {
    const beside = path.replace(/\.worker$/, testSuffix);
    return (await host.files.kind(beside)) === "file" ? found(beside) : found();
  }
  const named = kind === "file" ? await reportLookAlike(host, path) : undefined;
  if (named) return { paths: [], diagnostics: [named] };
  if (kind !== "directory") throw new NoTests(`${path} is neither a folder nor a test file nor a worker file`);
  const enters = async (folder: string) =>
    !passedOver.test(`${folder}/`) && (await host.files.kind(join(path, folder, "SKILL.md"))) === undefined;
  const names = (await listFiles(path, enters)).map((name) => join(path, name));
  const reports = await Promise.all(names.map((name) => reportLookAlike(host, name)));
  return {
    paths: names.filter((name) => name.endsWith(testSuffix)),
    diagnostics: reports.filter((report) => report !== undefined),
  };
}

/** Reports a file with tests whose name is not that of a test file: it would never run. */
async function reportLookAlike(host: Host, path: string): Promise<Diagnostic | undefined> {
  if (path.endsWith(testSuffix) || !lookAlike.test(path)) return undefined;
  const text = await host.files.readText(path, { maxBytes: 1_000_000 }).catch(() => "");
  if (!/^\s*"?cases"?\s*:/m.test(text)) return undefined;
  const source: Source = { name: relative(host.workingDirectory, path), text };
  const span = { source, start: 0, end: (text.split(/\r?\n/, 1)[0] ?? "").length };
  const note = `rename it to \`${basename(path).replace(lookAlike, testSuffix)}\``;
  return diagnose("manifest-name", { message: `\`${basename(path)}\` is not read`, span, note });
}

interface ReadSuite {
  readonly suite: TestSuite;
  readonly diagnostics: readonly Diagnostic[];
}

async function readSuite(host: Host, path: string): Promise<ReadSuite> {
  const file = relative(host.workingDirectory, path);
  const source: Source = { name: file, text: await host.files.readText(path) };
  const { cases, diagnostics } = parseTestFile(source);
  const folder = dirname(path);
  const name = basename(path, testSuffix);
  const worker = join(folder, `${name}.worker`);
  const hasWorker = (await host.files.kind(worker)) === "file";
  const target = name === "main" || !hasWorker ? folder : worker;
  const found = [...diagnostics];
  const expanded: TestCaseSyntax[] = [];
  if (name !== "main" && !hasWorker) {
    const message = `there is no worker \`${name}.worker\` beside \`${basename(path)}\``;
    const span = { source, start: 0, end: (source.text.split(/\r?\n/, 1)[0] ?? "").length };
    found.push(diagnose("reference-missing", { message, span, note: "a test of `main.worker` is `main.test.yaml`" }));
  }
  for (const one of cases.flatMap(readFiles)) {
    const problem = await missingFile(host, folder, one);
    if (problem) found.push(problem);
  }
  for (const one of cases) {
    const lines = one.from ? await readLinesOf(host, { folder, worker: name, testCase: one, from: one.from }) : [one];
    if (Array.isArray(lines)) expanded.push(...lines);
    else found.push(lines);
  }
  return { suite: { file, folder, target, cases: expanded }, diagnostics: found };
}

interface CaseLines {
  readonly folder: string;
  readonly worker: string;
  readonly testCase: TestCaseSyntax;
  readonly from: Spanned<string>;
}

/** Each line of a case file as a case, or what is wrong with one. Lines whose output is wrong, and no other known, are left out. */
async function readLinesOf(
  host: Host,
  { folder, worker, testCase, from: { value: path, span } }: CaseLines,
): Promise<TestCaseSyntax[] | Diagnostic> {
  // A file that is not there is reported already.
  const text = await host.files.readText(join(folder, path)).catch(() => "");
  const fail = (message: string) => diagnose("invalid-value", { message: `\`${path}\`: ${message}`, span });
  const found: TestCaseSyntax[] = [];
  try {
    for (const [index, line] of text.split("\n").entries()) {
      const one = parseCase(line, index + 1, { worker });
      if (!one) continue;
      if (one.files.length + one.fragments.length > 0)
        return fail(
          `line ${index + 1}: a test gives no files or texts of a caller; \`llm-do test --from ${one.from ?? "RUN/CALL"}\` does`,
        );
      const output = expectedOutput(one);
      if (output === undefined && !testCase.expect?.output) continue;
      const expect = { ...(output === undefined ? {} : { output: { equals: output } }), ...testCase.expect };
      const name = { ...testCase.name, value: `${testCase.name.value}, line ${index + 1}` };
      found.push({ ...testCase, name, input: { value: one.input, span }, expect });
    }
  } catch (thrown) {
    if (thrown instanceof CaseLineError) return fail(thrown.message);
    throw thrown;
  }
  return found;
}

/** Files that have to be there. */
function readFiles({
  script,
  from,
  attachments = [],
  files = {},
  scopes = {},
  expect,
}: TestCaseSyntax): readonly Spanned<string>[] {
  const { judge } = expect ?? {};
  return [
    ...(script ? [script] : []),
    ...(from ? [from] : []),
    ...attachments,
    ...Object.values(scopes),
    ...(judge ? [judge.worker, ...(judge.script ? [judge.script] : [])] : []),
    ...Object.values(files).flatMap((source) => ("from" in source ? [source.from] : [])),
  ];
}

/** Reports paths of a test that its program has no file for, or that lie beyond its folder. */
export async function diagnosePaths(host: Host, suite: TestSuite, outline: Outline): Promise<readonly Diagnostic[]> {
  return [...(await findFilesOutside(host, suite, outline.root)), ...(await findMistypedNames(host, suite, outline))];
}

/**
 * Reports names under `without` that are not there and nearly those of others. What earlier runs wrote need not be there: the folders in
 * which workers can write, and all below them, are not reported. A worker without scopes can write in the whole program's folder, which
 * says nothing about the names in it.
 */
async function findMistypedNames(host: Host, { folder, cases }: TestSuite, outline: Outline): Promise<readonly Diagnostic[]> {
  const roots = [...outline.workers, ...(outline.entry.kind === "code" ? [outline.entry] : [])]
    .flatMap(({ scopes }) => scopes.filter(({ mode }) => mode === "rw"))
    .map(({ root }) => resolve(outline.root, root))
    .filter((root) => root !== outline.root);
  const found: Diagnostic[] = [];
  for (const { value, span } of cases.flatMap(({ without = [] }) => without)) {
    const path = join(folder, value);
    if (roots.some((root) => isWithin(path, root) || isWithin(root, path))) continue;
    if ((await host.files.kind(path)) !== undefined) continue;
    const beside = await host.files.names(dirname(path)).catch((): readonly string[] => []);
    const writable = roots.filter((root) => dirname(root) === dirname(path)).map((root) => basename(root));
    const note = didYouMean(basename(path), new Set([...writable, ...beside]));
    if (note) found.push(diagnose("reference-missing", { message: `there is no file or folder \`${value}\``, span, note }));
  }
  return found;
}

/** Reports files of a test that lie beyond its program's folder: no test reads or writes there. */
async function findFilesOutside(host: Host, { folder, cases }: TestSuite, root: string): Promise<readonly Diagnostic[]> {
  const real = await host.files.realPath(root);
  const named = cases.flatMap((one) => {
    const scopes = new Map(Object.entries(one.scopes ?? {}).map(([name, path]) => [path, name]));
    return [...readFiles(one), ...(one.recording ? [one.recording] : [])].map((path) => ({ ...path, scope: scopes.get(path) }));
  });
  const found: Diagnostic[] = [];
  for (const { value, span, scope } of named) {
    const leadsTo = await realPathOf(host, join(folder, value));
    if (leadsTo !== undefined && isWithin(leadsTo, real)) continue;
    const written = scope === undefined ? "`sample`" : `\`scopes: { ${scope}: sample }\``;
    const note = `copy what the test needs into the program's folder, and write the path of the copy, such as ${written}`;
    found.push(diagnose("reference-outside", { message: `\`${value}\` leads out of the program's folder`, span, note }));
  }
  return found;
}

/** The path without links, also of a file that is going to be made. Undefined for a link that leads nowhere. */
async function realPathOf(host: Host, path: string): Promise<string | undefined> {
  const found = await host.files.realPath(path).catch(() => undefined);
  if (found !== undefined) return found;
  const [parent, name] = [dirname(path), basename(path)];
  if (parent === path || (await host.files.names(parent).catch((): readonly string[] => [])).includes(name)) return undefined;
  const above = await realPathOf(host, parent);
  return above === undefined ? undefined : join(above, name);
}

async function missingFile(host: Host, folder: string, { value, span }: Spanned<string>): Promise<Diagnostic | undefined> {
  const path = join(folder, value);
  if ((await host.files.kind(path)) !== undefined) return undefined;
  const note = didYouMean(basename(value), await host.files.names(dirname(path)).catch(() => []));
  return diagnose("reference-missing", { message: `there is no file \`${value}\``, span, note });
}
