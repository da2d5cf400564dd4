import { relative } from "node:path";
import type { Span } from "../../diagnostics/source.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import { toolsetOfTools } from "../../toolsets/exported-toolset.ts";
import { isTool, type Tool } from "../../toolsets/toolset.ts";
import { type WorkerSource, workerToolset } from "../../toolsets/workers/worker-toolset.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { hintAtReentry } from "../checks/reentry.ts";
import type { Compilation } from "../compilation.ts";
import { type Home, homeOf } from "../home.ts";
import { withoutAnswerers } from "./worker-answerer.ts";

/** A worker that code may call by name. */
export interface CalledWorker {
  readonly path: string;
  readonly home: Home;
}

/** Code that calls by name. */
export interface CallingCode extends CalledWorker {
  /** The export. */
  readonly name: string;
  /** Span that refers to it, in a worker or as the entry. */
  readonly from: Span;
}

type CallTarget =
  | ({ readonly kind: "worker" } & CalledWorker)
  | { readonly kind: "tool"; readonly path: string; readonly tool: Tool };

/** The names that the program's code calls, with what each means. One name means one thing in the whole program. */
export class CallTable {
  readonly #compilation: Compilation;
  readonly #targets = new Map<string, CallTarget>();
  readonly #done = new Set<string>();

  constructor(compilation: Compilation) {
    this.#compilation = compilation;
  }

  /** Adds the names that some code calls, and those that the tools among them call. Gives the workers among them. */
  async add(names: readonly string[], caller: CallingCode): Promise<CalledWorker[]> {
    const found: CalledWorker[] = [];
    for (const name of names) {
      const key = `${caller.home.folder}\0${name}`;
      if (this.#done.has(key)) continue;
      this.#done.add(key);
      const target = await this.#resolve(name, caller);
      if (target?.kind === "worker") found.push(target);
      if (target?.kind === "tool") {
        const callee = { ...caller, path: target.path, name };
        found.push(...(await this.addTool(target.tool, callee)));
      }
    }
    return found;
  }

  /** The same with the names that a tool calls. A hint, where it does not say what happens to it in a run that goes on. */
  async addTool(tool: Tool, caller: CallingCode): Promise<CalledWorker[]> {
    const { calls = [] } = tool;
    if (calls.length > 0) hintAtReentry(this.#compilation, { name: caller.name, tool, span: await this.#spanOf(caller) });
    return this.add(calls, caller);
  }

  /** Everything in the table, linked. */
  link(workers: ReadonlyMap<string, Worker>, abilitiesBeyond: WorkerSource["abilitiesBeyond"]): Map<string, ToolsetReference> {
    const callables = new Map<string, ToolsetReference>();
    for (const [name, target] of this.#targets) {
      const linked = linkTarget(name, target, { workers, abilitiesBeyond });
      if (linked) callables.set(name, { reference: name, approvals: new Map(), fromCode: true, ...linked });
    }
    return callables;
  }

  async #resolve(name: string, caller: CallingCode): Promise<CallTarget | undefined> {
    const meanings = await this.#meanings(name, caller);
    const known = this.#targets.get(name);
    const isSame = known && meanings.length === 1 && meanings[0]?.path === known.path;
    const [only, ...others] = known && !isSame ? [...meanings, known] : meanings;
    if (only && others.length === 0) {
      this.#targets.set(name, only);
      return only;
    }
    await (only ? this.#reportAmbiguous(name, caller, [only, ...others]) : this.#reportUnknown(name, caller));
    return undefined;
  }

  async #meanings(name: string, { home, path: file, from }: CallingCode): Promise<CallTarget[]> {
    const { modules } = this.#compilation;
    const workers = (await home.names.workerPaths(name)).map((path) => ({ path, home: homeOf(path, home) }));
    const tools: { readonly path: string; readonly name: string; readonly tool: Tool }[] = [];
    for (const path of new Set([file, ...(await home.names.codeFiles())])) {
      if (!(await modules.exports(path, { home, from })).names.has(name)) continue;
      const tool = (await modules.values(path, { home, from }))?.get(name);
      if (isTool(tool)) tools.push({ path, name, tool });
    }
    const own = await withoutAnswerers(this.#compilation, workers, tools);
    return [
      ...workers.map((worker) => ({ kind: "worker" as const, ...worker })),
      ...own.map(({ path, tool }) => ({ kind: "tool" as const, path, tool })),
    ];
  }

  async #reportAmbiguous(name: string, caller: CallingCode, meanings: readonly CallTarget[]): Promise<void> {
    const { workingDirectory } = this.#compilation.host;
    const files = meanings.map(({ path }) => `\`${relative(workingDirectory, path)}\``).join(" or ");
    const message = `\`${caller.name}\` calls \`${name}\`, which could be in ${files}`;
    const note = "rename one of them";
    this.#compilation.diagnostics.report("ambiguous-toolset", { message, span: await this.#spanOf(caller), note });
  }

  async #reportUnknown(name: string, caller: CallingCode): Promise<void> {
    const { modules, diagnostics } = this.#compilation;
    const { home } = caller;
    const code = await Promise.all((await home.names.codeFiles()).map((path) => modules.exports(path, { home })));
    const note = didYouMean(name, [...(await home.names.workerNames()), ...code.flatMap(({ names }) => [...names.keys()])]);
    const message = `\`${caller.name}\` calls \`${name}\`, which is neither a worker nor a tool of this program`;
    diagnostics.report("unknown-call", { message, span: await this.#spanOf(caller), note });
  }

  async #spanOf({ path, home, name }: CallingCode) {
    return (await this.#compilation.modules.exports(path, { home })).names.get(name);
  }
}

/** Undefined for a worker that could not be linked. */
function linkTarget(
  name: string,
  target: CallTarget,
  { workers, abilitiesBeyond }: Pick<WorkerSource, "abilitiesBeyond"> & { readonly workers: ReadonlyMap<string, Worker> },
) {
  if (target.kind === "tool") {
    const tools = [{ ...target.tool, name }];
    return { toolset: toolsetOfTools(name, tools), config: undefined, tools };
  }
  const found = workers.get(target.path);
  const worker = found && (() => found);
  return worker && { worker, ...workerToolset({ name, worker, abilitiesBeyond }) };
}
