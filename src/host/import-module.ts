import { realpath } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { errorCode } from "./files/system-error.ts";
import { expectTexts, installModuleHooks } from "./module-hooks.ts";

/**
 * Runs a module of a program: `.js`, `.mjs`, or TypeScript, whose types Node strips. Errors of its own code are thrown unchanged.
 * `texts`, by real path: a file that holds another text now is not run.
 */
export async function importModule(path: string, texts?: ReadonlyMap<string, string>): Promise<Record<string, unknown>> {
  // Node identifies a module by its real path: the hooks must know that one.
  const url = pathToFileURL(await realpath(path).catch(() => path)).href;
  installModuleHooks().add(url);
  const stop = texts && expectTexts(texts);
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    throw explain(error);
  } finally {
    stop?.();
  }
}

function explain(error: unknown): unknown {
  const problem = problems.get(errorCode(error));
  return problem === undefined ? error : new ModuleSyntaxError(error, problem);
}

const problems: ReadonlyMap<string, SyntaxProblem> = new Map([
  [
    "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
    {
      what: "TypeScript that only a compiler can turn into JavaScript",
      hint: "Types are stripped, nothing is compiled: write an enum as a const object, a parameter property as a field with an assignment, a namespace as a module.",
    },
  ],
  ["ERR_INVALID_TYPESCRIPT_SYNTAX", { what: "a syntax error", hint: "" }],
  [
    "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
    {
      what: "TypeScript inside node_modules, which Node does not run",
      hint: "Copy the program to a folder outside of node_modules, and run it there. A package that is to be used in place has to publish JavaScript.",
    },
  ],
]);

interface SyntaxProblem {
  readonly what: string;
  readonly hint: string;
}

/** A module that cannot be run as it is written. The message says where, and how to mend it. */
export class ModuleSyntaxError extends Error {
  readonly code = "module_syntax";
  readonly hint: string;
  /** Host path and line, where Node names them. */
  readonly file: string | undefined;
  readonly line: number | undefined;

  constructor(cause: unknown, problem: SyntaxProblem) {
    const found = findLine(cause);
    const detail = cause instanceof Error ? cause.message : String(cause);
    const where = found === undefined ? "" : `${found.file}:${found.line}: `;
    super(`${where}${problem.what} (${detail}). ${problem.hint}`.trimEnd(), { cause });
    this.name = "ModuleSyntaxError";
    this.hint = problem.hint;
    this.file = found?.file;
    this.line = found?.line;
  }
}

/** Node puts `path:line` and the line itself before the first line of the stack. */
function findLine(error: unknown): { file: string; line: number } | undefined {
  const [head = ""] = error instanceof Error ? (error.stack ?? "").split("\n", 1) : [];
  const found = /^(?:file:\/\/)?(.+):(\d+)$/.exec(head);
  return found?.[1] === undefined ? undefined : { file: found[1], line: Number(found[2]) };
}
