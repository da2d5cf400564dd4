import { basename, dirname, join, relative } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import { type CompileRequest, compile, compileWith } from "../front/llm-do.ts";
import type { Host } from "../host/host.ts";
import { readRevision } from "../host/read-revision.ts";
import { createScratchFolder } from "../host/scratch-folder.ts";
import { addSettings, removeSettings } from "../language/edit-frontmatter.ts";
import type { Provider } from "../models/provider.ts";
import type { Program, Worker } from "../program/program.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import { errorMessage } from "../util/text/error-message.ts";

/** Something that could answer a step. */
export type CandidateSource =
  /** The prompt of the step as it is today. */
  | { readonly type: "prompt" }
  /** A function: `tools.ts:NAME`. `text`: that of its file, which the program does not have. */
  | { readonly type: "code"; readonly reference: string; readonly text?: string }
  /** Another worker file of the program. `text`: that of the file, which the program does not have. */
  | { readonly type: "worker"; readonly file: string; readonly text?: string }
  | { readonly type: "model"; readonly id: string }
  /** The program as it was at a revision. */
  | { readonly type: "revision"; readonly name: string };

/** Reads a candidate as it is written: `tools.ts:NAME`, `FILE.worker`, `model:ID` or `git:REVISION`. Throws a `TypeError`. */
export function parseCandidate(text: string): CandidateSource {
  if (text.startsWith("model:") && text.length > 6) return { type: "model", id: text.slice(6) };
  // A name that begins with a hyphen would be a flag of git.
  if (/^git:[^-]/.test(text)) return { type: "revision", name: text.slice(4) };
  if (text.endsWith(".worker")) return { type: "worker", file: text };
  if (/\.[cm]?[jt]s:[A-Za-z_$][\w$]*$/.test(text)) return { type: "code", reference: text };
  throw new TypeError(`\`${text}\` is no candidate: write tools.ts:NAME, FILE.worker, model:PROVIDER:NAME or git:REVISION`);
}

/** A candidate that is not there. */
export class CandidateError extends Error {}

/** A step of a program, to be answered in copies of it. */
export interface StepOfProgram {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** Absolute path of what was compiled. */
  readonly target: string;
  /** The worker's name. */
  readonly step: string;
  /** Its file, relative to the folder. */
  readonly file: string;
  readonly host: Host;
  readonly providers?: readonly Provider[];
  /** The model of workers that name none. */
  readonly model?: string;
  readonly trust?: boolean;
  /** Asked for a copy that needs trust, with its folder named as the program's. Rejects without it. Default: rejects. */
  readonly confirm?: (compiled: Compiled) => Promise<unknown>;
}

/** A candidate that can be asked. The caller removes it. */
export interface OpenCandidate {
  readonly program: Program;
  readonly worker: Worker;
  /** Its code alone answers, and what that leaves is unsure. */
  readonly isCodeAlone: boolean;
  readonly remove: () => Promise<void>;
}

/**
 * Makes a copy of the program in which the candidate answers the step, and compiles it. Rejects with a `CompileError`, with an
 * `UntrustedProgram`, or with an `Error` that says why the copy cannot be made; nothing is left behind then.
 */
export async function openCandidate(of: StepOfProgram, source: CandidateSource): Promise<OpenCandidate> {
  const { host } = of;
  await requireFile(of, source);
  if (source.type === "revision") await trustToday(of);
  const scratch = await createScratchFolder(of.root, source.type === "revision" ? { without: ["."] } : {});
  const remove = () => host.files.remove(scratch.parent);
  try {
    if (source.type === "revision") {
      await host.files.makeDirectory(scratch.path);
      await readRevision(of.root, source.name, scratch.path).catch((thrown) => {
        throw new CandidateError(`git:${source.name}: ${errorMessage(thrown)}`, { cause: thrown });
      });
    } else {
      await writeText(of, source, scratch.path);
      await editStep(of, source, scratch.path);
    }
    const program = await compileCopy(of, source, scratch.path);
    const { entry } = program;
    if (entry.kind !== "worker") throw new Error(`\`${of.step}\` is no worker`);
    return { program, worker: entry.worker, isCodeAlone: source.type === "code", remove };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

/** Rejects with a `CandidateError` that names the file as it was written, before a copy hides its place. */
async function requireFile({ host, root, file }: StepOfProgram, source: CandidateSource): Promise<void> {
  const written = writtenFile(source);
  if (written === undefined || textOf(source) !== undefined) return;
  const path = pathIn(root, file, source);
  if ((await host.files.kind(path)) === "file") return;
  const near = didYouMean(basename(path), await host.files.names(dirname(path)).catch(() => []));
  throw new CandidateError(`there is no file \`${written}\` in ${dirname(path)}${near === undefined ? "" : `: ${near}`}`);
}

function writtenFile(source: CandidateSource): string | undefined {
  if (source.type === "code") return source.reference.slice(0, source.reference.lastIndexOf(":"));
  return source.type === "worker" ? source.file : undefined;
}

function textOf(source: CandidateSource): string | undefined {
  return source.type === "code" || source.type === "worker" ? source.text : undefined;
}

/** Names of code are relative to the file of the step. */
function pathIn(root: string, file: string, source: CandidateSource): string {
  return join(root, source.type === "code" ? dirname(file) : "", writtenFile(source) ?? "");
}

async function writeText({ host, file }: StepOfProgram, source: CandidateSource, copy: string): Promise<void> {
  const text = textOf(source);
  if (text !== undefined) await host.files.writeAtomically(pathIn(copy, file, source), text);
}

/** Asks for trust in the program as it is: before git reads in its folder, and before copies of it run unasked. */
export async function trustToday(of: StepOfProgram): Promise<void> {
  const { target, step, host, providers = [], model = unaskedModel, trust } = of;
  if (trust) return;
  const entry = target.endsWith(".worker") ? {} : { entry: step };
  const today = requireCompiled(await compile({ target, host, providers, model, ...entry, toRun: true, trust: false }));
  await confirmCopy(today, of, of.root);
}

/** Lets the candidate, and nothing beside it, answer in the copy. */
async function editStep({ host, file }: StepOfProgram, source: CandidateSource, copy: string): Promise<void> {
  if (source.type === "worker") return;
  const path = join(copy, file);
  const bare = removeSettings(await host.files.readText(path), ["code", "check"]);
  const isCode = source.type === "code";
  await host.files.writeAtomically(
    path,
    isCode ? addSettings(bare, [`code: { from: ${JSON.stringify(source.reference)}, on_failure: fail }`]) : bare,
  );
}

/** In the place of a model where none is chosen and none is asked. */
const unaskedModel = "openai:none";

async function compileCopy(of: StepOfProgram, source: CandidateSource, copy: string): Promise<Program> {
  const { root, step, host, providers = [], model } = of;
  const target = source.type === "worker" ? join(copy, source.file) : join(copy, relative(root, of.target));
  const chosen = source.type === "model" ? { modelFor: [`${step}=${source.id}`] } : {};
  const entry = source.type === "worker" || of.target.endsWith(".worker") ? {} : { entry: step };
  const request = {
    ...{ target, host, providers, toRun: true, trust: of.trust === true },
    ...(model === undefined ? {} : { model }),
    ...{ ...chosen, ...entry },
  };
  // An answer that is compared already is not checked beside it.
  const fixed = { checks: false } as const;
  const compileIt = (more: Partial<CompileRequest>) => compileWith({ ...request, ...more }, fixed, { copyOf: root });
  const first = await compileIt({});
  // Code alone asks no model, and needs none.
  const isModelless = source.type === "code" && first.diagnostics.some(({ code }) => code === "model-missing");
  const read = requireCandidate(isModelless ? await compileIt({ model: unaskedModel }) : first, source);
  const whole = read.trust && !of.trust ? await confirmCopy(read, of, copy) : read;
  const { program } = requireCandidate(whole, source);
  if (!program) throw new Error("invariant: a trusted program compiles without errors and is none");
  return program;
}

/** The program compiles without the candidate, so that errors are those of the candidate; their places are those of the copy. */
function requireCandidate(compiled: Compiled, source: CandidateSource): Compiled {
  const [mistake] = compiled.diagnostics.filter(({ severity }) => severity === "error");
  if (!mistake || source.type !== "code") return requireCompiled(compiled);
  const notes = mistake.notes.map(({ message }) => message);
  throw new CandidateError(`${source.reference}: ${[mistake.message, ...notes].join("; ")}`);
}

function requireCompiled(compiled: Compiled): Compiled {
  if (compiled.diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(compiled.diagnostics);
  return compiled;
}

/** Asks for trust in the copy as if it were the program: it has the program's files, with one line changed. */
async function confirmCopy(read: Compiled, { root, confirm }: StepOfProgram, copy: string): Promise<Compiled> {
  const { untrusted, reach, trust } = read;
  if (!untrusted || !reach || !trust) return read;
  const asProgram = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(copy).slice(1, -1), JSON.stringify(root).slice(1, -1)));
  if (!confirm) throw new UntrustedProgram(asProgram(untrusted), asProgram(reach));
  let whole = read;
  const trustCopy = async () => {
    whole = await trust();
    return { ...whole, ...(whole.reach ? { reach: asProgram(whole.reach) } : {}) };
  };
  await confirm({ ...read, untrusted: asProgram(untrusted), reach: asProgram(reach), trust: trustCopy });
  return whole;
}
