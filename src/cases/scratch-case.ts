import { join, relative, resolve } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import { type CompileRequest, compileWith } from "../front/llm-do.ts";
import type { Host } from "../host/host.ts";
import { copyInto, createScratchFolder, listFiles, type ScratchFolder } from "../host/scratch-folder.ts";
import type { TestCaseSyntax } from "../language/shapes/test-shape.ts";
import type { Provider } from "../models/provider.ts";
import type { ProgramOptions } from "../protocol/fact.ts";
import type { Outline } from "../protocol/outline.ts";
import { sha256 } from "../util/sha256.ts";
import { isWithin } from "../util/within.ts";
import { type Recording, type RunOfCase, readRecording } from "./recording.ts";
import type { TestSuite } from "./test-suite.ts";

/** The source of the model's answers. `record`: as `live`, and the answers are kept. */
export type CaseMode = "script" | "recording" | "live" | "record";

export interface ScratchRequest {
  readonly suite: TestSuite;
  readonly testCase: TestCaseSyntax;
  readonly mode: CaseMode;
  /** Absolute path of the program's folder. */
  readonly root: string;
  readonly host: Host;
  readonly providers: readonly Provider[];
  /** The user's, over the case's, where a model is asked. */
  readonly model: string | undefined;
  /** True: the copy is kept, with the record of its runs beside it. Default false. */
  readonly keep?: boolean;
}

/** The name by which requests and recordings hold the path of the scratch copy. */
export const folderName = "FOLDER";
export const folderToken = `⟦secret:${folderName}⟧`;
const scripted = "scripted:";
/** Names of files that a program can run, or that it starts as a server. */
const codeNames = /\.(?:[cm]?[jt]sx?|node|wasm|py|sh|rb|pl)$/i;

/** A case in a scratch copy of its program, which is compiled there for the trust question and for the run alike. */
export class ScratchCase {
  readonly #request: ScratchRequest;
  readonly #scratch: ScratchFolder;
  /** Folders beside the scratch copy that stand for scopes, by their names. */
  readonly #scopes: Record<RunOfCase, Record<string, string>> = { case: {}, judge: {} };
  readonly host: Host;
  /** The recorded answers. Undefined in other modes, and if there are none yet. */
  readonly answers: Recording | undefined;

  /** Makes the copy, with the case's files and scopes in it. The caller removes it. */
  static async open(request: ScratchRequest): Promise<ScratchCase> {
    const { suite, testCase, root, mode, host, keep: isKept = false } = request;
    const without = (testCase.without ?? []).map(({ value }) => relative(root, join(suite.folder, value)));
    const path = mode === "recording" ? testCase.recording?.value : undefined;
    const answers = path === undefined ? undefined : await readRecording(host, join(suite.folder, path));
    const scratch = await createScratchFolder(root, { without, isKept });
    const opened = new ScratchCase(request, scratch, answers);
    try {
      await opened.#putFiles();
      for (const [name, from] of Object.entries(testCase.scopes ?? {}))
        await copyInto(join(suite.folder, from.value), await opened.#addScope("case", name));
      return opened;
    } catch (thrown) {
      await opened.remove();
      throw thrown;
    }
  }

  private constructor(request: ScratchRequest, scratch: ScratchFolder, answers: Recording | undefined) {
    this.#request = request;
    this.#scratch = scratch;
    this.answers = answers;
    const { host, testCase, mode } = request;
    const expand = (value: string) => value.replaceAll(`\${${folderName}}`, scratch.path);
    const variables = Object.entries(testCase.env ?? {}).map(([name, value]) => [name, expand(value)] as const);
    // Keys and logins of the user are needed where a model is asked, and only there.
    const isAsked = mode === "live" || mode === "record";
    this.host = {
      ...host,
      workingDirectory: scratch.path,
      ...(isAsked ? {} : { stateDirectory: join(scratch.parent, "state") }),
      environment: { ...host.environment, ...Object.fromEntries(variables) },
    };
  }

  /** Absolute path of the copy. */
  get folder(): string {
    return this.#scratch.path;
  }

  /** Absolute path of the folder that holds it. */
  get parent(): string {
    return this.#scratch.parent;
  }

  /** Names of the case's scopes that lie beyond the program's folder, and are empty folders here. */
  get emptied(): readonly string[] {
    const { scopes: copied = {} } = this.#request.testCase;
    return Object.keys(this.#scopes.case).filter((name) => !Object.hasOwn(copied, name));
  }

  /** Absolute path of the store of its runs, where they are kept. */
  get store(): string {
    return join(this.parent, "runs");
  }

  /** The parts of the case: itself, and its judge. */
  get parts(): readonly RunOfCase[] {
    return this.#request.testCase.expect?.judge ? ["case", "judge"] : ["case"];
  }

  /** Paths in the copy of its code, and the beginnings of its digests. */
  async digestCode(): Promise<ReadonlyMap<string, string>> {
    const digests = new Map<string, string>();
    for (const path of (await listFiles(this.folder)).filter((one) => codeNames.test(one)))
      digests.set(path, sha256(await this.#request.host.files.readBytes(join(this.folder, path))).slice(0, 16));
    return digests;
  }

  /** True for a path in the copy that the case brings. */
  brings(path: string): boolean {
    const { files = {} } = this.#request.testCase;
    return Object.keys(files).some((name) => isWithin(join(this.folder, path), join(this.folder, name)));
  }

  remove(): Promise<void> {
    return this.#request.host.files.remove(this.#scratch.parent);
  }

  /** Compiles a part without trust. Scopes that lie beyond the program's folder become empty folders beside the copy. */
  compile(part: RunOfCase): Promise<Compiled> {
    return this.#confine(part, () => this.#compile(part));
  }

  /** Goes on with trust: imports the code of a part, which can have more scopes. */
  trust(part: RunOfCase, compiled: Compiled): Promise<Compiled> {
    let known: Compiled | undefined = compiled;
    return this.#confine(part, async () => {
      const { trust } = known ?? (await this.#compile(part));
      known = undefined;
      return trust ? trust() : compiled;
    });
  }

  async #confine(part: RunOfCase, compile: () => Promise<Compiled>): Promise<Compiled> {
    const compiled = await compile();
    const beyond = namesOutside(compiled.outline);
    if (beyond.length === 0) return compiled;
    for (const name of beyond) await this.#addScope(part, name);
    return compile();
  }

  /** The default model of the run, as the case or its recording names it. A script is one of the copy. */
  get model(): string | undefined {
    const { testCase, suite } = this.#request;
    const { model = this.answers?.model?.replace(folderToken, this.folder) } = testCase;
    if (!model?.startsWith(scripted)) return model;
    return `${scripted}${this.#inScratch(resolve(suite.folder, model.slice(scripted.length)))}`;
  }

  /** The user's model. A recording is made with the copy's script, so that it finds that again on any machine. */
  get chosen(): string | undefined {
    const { model, host, mode } = this.#request;
    if (!model?.startsWith(scripted)) return model;
    const path = resolve(host.workingDirectory, model.slice(scripted.length));
    return `${scripted}${mode === "record" ? this.#inScratch(path) : path}`;
  }

  #compile(part: RunOfCase): Promise<Compiled> {
    const { testCase, providers, suite, mode, root } = this.#request;
    const { entry, set, expect } = testCase;
    const target = part === "case" ? suite.target : join(suite.folder, expect?.judge?.worker.value ?? "");
    const { chosen } = this;
    const request: CompileRequest = {
      ...(part === "case" && entry !== undefined ? { entry } : {}),
      target: this.#inScratch(target),
      ...(Object.keys(this.#scopes[part]).length > 0 ? { scopes: this.#scopes[part] } : {}),
      ...(chosen === undefined ? {} : { model: chosen }),
      ...{ host: this.host, providers, trust: false, toRun: true },
    };
    // The result of a test that spends nothing must not depend on the machine.
    const userLimits = mode === "live" || mode === "record";
    // A run chooses its checks by its id, which is another one each time.
    const fixed = { checks: false } as const;
    const ofProgram = { ...fixed, ...(part === "case" && set ? { set } : {}), ...this.#modelsOf(part) };
    return compileWith(request, ofProgram, { userLimits, copyOf: root });
  }

  #modelsOf(part: RunOfCase): ProgramOptions {
    const { testCase, suite, mode } = this.#request;
    const script = part === "case" ? testCase.script : testCase.expect?.judge?.script;
    if (mode === "script" && script !== undefined) {
      const model = `${scripted}${this.#inScratch(join(suite.folder, script.value))}`;
      return { model, modelFor: [`*=${model}`] };
    }
    return this.model === undefined ? {} : { model: this.model };
  }

  async #putFiles(): Promise<void> {
    const { suite, testCase, host } = this.#request;
    for (const [name, source] of Object.entries(testCase.files ?? {})) {
      const to = join(this.folder, name);
      await host.files.makeDirectory(join(to, ".."));
      if ("text" in source) await host.files.writeAtomically(to, source.text);
      else await copyInto(join(suite.folder, source.from.value), to);
    }
  }

  /** Returns the folder, which is made. `.` is the scope of programs that declare none. */
  async #addScope(part: RunOfCase, name: string): Promise<string> {
    const folder = join(this.#scratch.parent, "scopes", name === "." ? "_" : name);
    await this.#request.host.files.makeDirectory(folder);
    this.#scopes[part][name] = folder;
    return folder;
  }

  /** The path in the scratch copy of a file of the program; a file beyond the program's folder is used where it is. */
  #inScratch(path: string): string {
    const { root } = this.#request;
    return isWithin(path, root) ? join(this.folder, relative(root, path)) : path;
  }
}

/** Names of scopes that lie beyond the program's folder, but for skills, and for those whose folder was chosen. */
function namesOutside(outline: Outline | undefined): readonly string[] {
  const { workers = [], entry } = outline ?? {};
  const scopes = [...workers, ...(entry?.kind === "code" ? [entry] : [])].flatMap((one) => one.scopes);
  return [
    ...new Set(scopes.filter(({ outside, isChosen, isPinned }) => outside && !isChosen && !isPinned).map(({ name }) => name)),
  ];
}
