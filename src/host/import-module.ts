import { realpath } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { expectTexts, installModuleHooks } from "./module-hooks.ts";
import { ModuleSyntaxError } from "./module-syntax-error.ts";
import { errorCode } from "./system-error.ts";

/**
 * Runs a module of a program: `.js`, `.mjs`, or TypeScript, whose types Node strips. Errors that its own code throws come as they
 * are, with their stack. `texts`, by real path: a file that holds another text now is not run.
 */
export async function importModule(path: string, texts?: ReadonlyMap<string, string>): Promise<Record<string, unknown>> {
  // Node gives a module the address of its real path: by that the hooks must know it.
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
  const code = errorCode(error);
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    return new ModuleSyntaxError(error, {
      what: "TypeScript that only a compiler can turn into JavaScript",
      hint: "Types are stripped, nothing is compiled: write an enum as a const object, a parameter property as a field with an assignment, a namespace as a module.",
    });
  }
  if (code === "ERR_INVALID_TYPESCRIPT_SYNTAX") {
    return new ModuleSyntaxError(error, { what: "a syntax error", hint: "Correct it where the message points." });
  }
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING") {
    return new ModuleSyntaxError(error, {
      what: "TypeScript inside node_modules, which Node does not run",
      hint: "The package has to publish JavaScript.",
    });
  }
  return error;
}
