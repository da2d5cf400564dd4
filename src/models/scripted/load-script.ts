import { extname } from "node:path";
import { errorMessage } from "../../util/error-message.ts";
import { ModelError } from "../model.ts";
import type { ProviderEnvironment } from "../provider.ts";
import { parseScriptRules } from "./parse-script-rules.ts";
import type { Script } from "./script.ts";
import { ScriptFault } from "./script-shape.ts";

type ScriptFiles = Pick<ProviderEnvironment, "readText" | "importScript">;

/** Loads the script of `scripted:PATH`. Rejects with a `ModelError` that names the file and the place in it. */
export async function loadScript(path: string, environment: ScriptFiles): Promise<Script> {
  const extension = extname(path).toLowerCase();
  if ([".ts", ".js", ".mjs", ".mts"].includes(extension)) return loadModule(path, environment);
  if (isRules(extension)) return (await loadRules(path, environment.readText)).script;
  throw fault(path, "a script is a .ts, .js, .mjs, .yaml, .yml or .json file");
}

/** The part of a script that can be read without running code. */
export interface ScriptInspection {
  /** The reason why it cannot be played. */
  readonly problem?: string;
  /** The workers that a script in YAML or JSON has turns for, each with `file:line`; without `*`. */
  readonly workers: ReadonlyMap<string, string>;
}

/** Looks at a script without running code. Never rejects for what is wrong with the script. */
export async function inspectScript(path: string, readText: ProviderEnvironment["readText"]): Promise<ScriptInspection> {
  const importScript = async () => ({ default: () => undefined });
  try {
    if (isRules(extname(path).toLowerCase())) return { workers: (await loadRules(path, readText)).workers };
    await loadScript(path, { readText, importScript });
    return { workers: new Map() };
  } catch (thrown) {
    return { problem: errorMessage(thrown), workers: new Map() };
  }
}

function isRules(extension: string): boolean {
  return [".yaml", ".yml", ".json"].includes(extension);
}

async function loadModule(path: string, environment: ScriptFiles): Promise<Script> {
  const module = await environment.importScript(path).catch((error: unknown) => {
    if (error instanceof ModelError) throw error;
    throw fault(path, `cannot be imported: ${errorMessage(error)}`, error);
  });
  const script = module["default"] ?? module["model"];
  if (typeof script === "function") return script as Script;
  const exported = Object.keys(module).join(", ") || "nothing";
  throw fault(path, `must export a function as default or as "model"; it exports ${exported}`);
}

async function loadRules(path: string, readText: ProviderEnvironment["readText"]) {
  const text = await readText(path).catch((error: unknown) => {
    throw fault(path, `cannot be read: ${errorMessage(error)}`, error);
  });
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  const lineAt = (offset: number | undefined) => (offset === undefined ? "" : `:${lines.linePos(offset).line}`);
  const broken = document.errors[0];
  if (broken) throw fault(path + lineAt(broken.pos[0]), broken.message);
  try {
    const { script, workers } = parseScriptRules(document.toJS());
    const places = workers.map((name) => [name, path + lineAt(offsetOf(document, ["workers", name]))] as const);
    return { script, workers: new Map(places) };
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw fault(path, errorMessage(error), error);
    throw fault(path + lineAt(offsetOf(document, error.path)), error.message, error);
  }
}

/** Finds where a path, or the longest part of it that is there, begins in the text. */
function offsetOf(
  document: { getIn(path: Iterable<unknown>, keep: true): unknown },
  path: readonly (string | number)[],
): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: readonly number[] | null } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}

function fault(path: string, message: string, cause?: unknown): ModelError {
  return new ModelError({ code: "configuration", model: `scripted:${path}`, message: `Script ${path}: ${message}`, cause });
}
