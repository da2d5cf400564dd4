import { extname } from "node:path";
import { errorMessage } from "../../util/text/error-message.ts";
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
  /** The place of the problem in the text of the script, in UTF-16 units from its beginning. Absent if it has none. */
  readonly offset?: number;
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
    const offset = thrown instanceof InvalidScript ? thrown.offset : undefined;
    return { problem: errorMessage(thrown), ...(offset === undefined ? {} : { offset }), workers: new Map() };
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
  if (broken) {
    const message =
      broken.code === "BAD_INDENT"
        ? "the indentation does not fit the lines above: keys that belong together begin in the same column"
        : broken.message;
    throw new InvalidScript(path + lineAt(broken.pos[0]), { message, offset: broken.pos[0] });
  }
  try {
    const { script, workers } = parseScriptRules(document.toJS());
    const places = workers.map((name) => [name, path + lineAt(offsetOf(document, ["workers", name]))] as const);
    return { script, workers: new Map(places) };
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw fault(path, errorMessage(error), error);
    const offset = offsetOf(document, error.path);
    throw new InvalidScript(path + lineAt(offset), { message: error.message, cause: error, offset });
  }
}

interface PlacedNode {
  readonly range?: readonly number[] | null;
  /** The pairs of a map. */
  readonly items?: readonly { readonly key?: PlacedNode & { readonly value?: unknown } }[];
}

/** Finds where a path, or the longest part of it that is there, begins in the text: at its key, or at an item of a list. */
function offsetOf(
  document: { getIn(path: Iterable<unknown>, keep: true): unknown },
  path: readonly (string | number)[],
): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const [node, parent] = [length, length - 1].map(
      (end) => document.getIn(path.slice(0, end), true) as PlacedNode | null | undefined,
    );
    if (!node?.range) continue;
    const key = parent?.items?.find((pair) => pair.key?.value === path[length - 1])?.key;
    return (key?.range ?? node.range)[0];
  }
  return undefined;
}

/** A script that cannot be played. */
class InvalidScript extends ModelError {
  readonly offset: number | undefined;

  constructor(path: string, { message, cause, offset }: { message: string; cause?: unknown; offset?: number | undefined }) {
    super({ code: "configuration", model: `scripted:${path}`, message: `Script ${path}: ${message}`, cause });
    this.offset = offset;
  }
}

function fault(path: string, message: string, cause?: unknown): ModelError {
  return new InvalidScript(path, { message, cause });
}
