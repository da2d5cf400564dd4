// Finds, for each code of the catalogue, the shortest sample of the tests that raises that code and no other.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Diagnostic } from "../src/diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../src/diagnostics/render-diagnostic.ts";
import { type CompileRequest, compile } from "../src/front/llm-do.ts";
import { createNodeHost } from "../src/host/node-host.ts";
import { parseWorkerFile } from "../src/language/parse-worker-file.ts";

/** A mistake as somebody would write it, and what is said of it. */
export interface Sample {
  readonly files: readonly SampleFile[];
  /** Absent where one worker file is the whole sample. */
  readonly request?: Request;
  readonly diagnostics: readonly Diagnostic[];
}

export interface SampleFile {
  readonly name: string;
  readonly text: string;
}

/** `options.json` of a program among the samples. */
export interface Request extends Omit<CompileRequest, "host" | "providers"> {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly mount?: object;
  readonly unreadable?: readonly string[];
}

/** The examples by their codes. Where a file alone raises a code, no program of several files is taken. */
export async function findSamples(tests: string): Promise<ReadonlyMap<string, Sample>> {
  const found = new Map<string, Sample>();
  const programs = await readPrograms(join(tests, "compile/samples"));
  const templates = await readTemplates(join(tests, "language/templates/samples"));
  for (const samples of [templates, programs, readFiles(join(tests, "language/samples"))]) {
    for (const sample of samples.filter(isPresentable).sort((a, b) => lengthOf(b) - lengthOf(a))) {
      const [first] = sample.diagnostics;
      if (first) found.set(first.code, sample);
    }
  }
  return found;
}

/** One with several diagnostics counts as longer. */
function lengthOf({ files, request, diagnostics }: Sample): number {
  const text = files.map((file) => file.name + file.text).join("") + JSON.stringify(request ?? {});
  return text.length + 100 * (diagnostics.length - 1);
}

/** It has one code, something to read in it, and nothing that a page of Markdown could not show. */
function isPresentable({ files, diagnostics }: Sample): boolean {
  const codes = new Set(diagnostics.map(({ code }) => code));
  const texts = files.map(({ text }) => text).join("");
  if (codes.size !== 1 || (files.length > 0 && texts.trim() === "")) return false;
  const shown = texts + renderDiagnostics(diagnostics);
  return shown.length < 3000 && /^[\t\n\x20-\x7e]*$/.test(texts) && !shown.includes("```") && !shown.includes(process.cwd());
}

function readFiles(folder: string): Sample[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const source = { name: "example.worker", text: readFileSync(join(folder, name, "input.worker"), "utf8") };
      return { files: [source], diagnostics: parseWorkerFile(source).diagnostics };
    });
}

/** Those with files that git cannot keep are left out. */
async function readPrograms(folder: string): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const name of readdirSync(folder).sort()) {
    const options = join(folder, name, "options.json");
    const request = existsSync(options) ? (JSON.parse(readFileSync(options, "utf8")) as Request) : {};
    if (!request.mount && !request.unreadable && existsSync(join(folder, name, "expected.txt")))
      samples.push(await compileSample(join(folder, name), request));
  }
  return samples;
}

async function readTemplates(folder: string): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const request = { target: "input.worker", model: usualModel };
    if (existsSync(join(folder, name, "diagnostics.txt"))) samples.push(await compileSample(join(folder, name), request));
  }
  return samples;
}

/** The model of samples that are not about models. */
export const usualModel = "anthropic:m";

async function compileSample(folder: string, request: Request): Promise<Sample> {
  const { env = {}, cwd = ".", mount, ...options } = request;
  const host = createNodeHost({
    workingDirectory: join(folder, cwd),
    homeDirectory: join(folder, "home"),
    environment: env,
  });
  const target = options.target ?? (options.files ? undefined : ".");
  const { diagnostics } = await compile({ ...options, ...(target === undefined ? {} : { target }), host });
  return { files: readProgram(folder), request, diagnostics };
}

const notOfTheProgram = /^(?:expected|rendered|diagnostics)\.txt$|^(?:summary|options|values)\.json$/;

function readProgram(folder: string): SampleFile[] {
  return globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll(sep, "/"),
    )
    .filter((name) => !notOfTheProgram.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
}
