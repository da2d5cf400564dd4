import { existsSync, readFileSync } from "node:fs";
import { createRequire, type ResolveFnOutput, type ResolveHookContext, registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { errorCode } from "./files/system-error.ts";

type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

let userModules: Set<string> | undefined;
const expected = new Set<ReadonlyMap<string, string>>();

/**
 * From now until the returned function is called, a module loads only with the text that is expected of its file. By real path;
 * files that are not named load as they are.
 */
export function expectTexts(texts: ReadonlyMap<string, string>): () => void {
  expected.add(texts);
  return () => expected.delete(texts);
}

function requireExpectedText(url: string): void {
  if (expected.size === 0 || !url.startsWith("file:")) return;
  const path = fileURLToPath(withoutQuery(url));
  const texts = [...expected].flatMap((one) => one.get(path) ?? []);
  if (texts.length === 0) return;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(readFileSync(path));
  if (texts.some((one) => one !== text)) throw new Error(`${path} has changed since it was read`);
}

/**
 * Teaches Node two things about the modules of programs, and about no other module of this process: `llm-do` and `zod` are those
 * that run here, installed or not, and `./x.js` may be written for `./x.ts`. All else is resolved by Node. Returns the set of those
 * modules' URLs: a caller that imports one adds it; what they import joins by itself, unless it is in `node_modules`.
 */
export function installModuleHooks(): Set<string> {
  if (userModules !== undefined) return userModules;
  const known = new Set<string>();
  userModules = known;
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const isUsers = context.parentURL !== undefined && known.has(withoutQuery(context.parentURL));
      if (!isUsers) return known.has(specifier) ? asModule(nextResolve(specifier, context)) : nextResolve(specifier, context);
      const found = resolveForUser(specifier, context, nextResolve);
      if (!found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found;
      if (!isOwnFile(found.url)) known.add(withoutQuery(found.url));
      return asModule(found);
    },
    load: (url, context, nextLoad) => {
      requireExpectedText(url);
      return nextLoad(url, context);
    },
  });
  return known;
}

function resolveForUser(specifier: string, context: ResolveHookContext, nextResolve: NextResolve): ResolveFnOutput {
  const own = ownPackages.test(specifier) ? resolveHere(specifier, context) : undefined;
  if (own !== undefined) return own;
  try {
    return nextResolve(specifier, context);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const found = typescriptTwin(specifier, context, nextResolve);
    if (found === undefined) throw error;
    return found;
  }
}

const ownPackages = /^(?:llm-do|zod)(?:\/|$)/;

function isNotFound(error: unknown): boolean {
  return ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(errorCode(error));
}

function resolveHere(specifier: string, context: ResolveHookContext): ResolveFnOutput | undefined {
  const isOwn = specifier === "llm-do" || specifier.startsWith("llm-do/");
  const url = isOwn ? resolveOwn(specifier) : resolveBeside(specifier, context);
  return url === undefined ? undefined : { url, shortCircuit: true };
}

/**
 * From the running copy's own place. `require` and `import` can mean different files of one package. The build has all that `zod`
 * exports in one file, which loads in a fraction of the time of the package's hundred.
 */
function resolveBeside(specifier: string, context: ResolveHookContext): string | undefined {
  try {
    if (!context.conditions.includes("require")) return bundled(specifier) ?? import.meta.resolve(specifier);
    return pathToFileURL(createRequire(import.meta.url).resolve(specifier)).href;
  } catch {
    return undefined;
  }
}

const ownExtension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const ownFolder = new URL("../", import.meta.url);

function bundled(specifier: string): string | undefined {
  const isWhole = ownExtension === ".js" && (specifier === "zod" || specifier === "zod/v4");
  return isWhole ? existing(new URL("zod.js", ownFolder)) : undefined;
}

/** The package's `exports` decide; where they name built files and we run from sources, the source is meant. */
function resolveOwn(specifier: string): string | undefined {
  let url: string;
  try {
    url = import.meta.resolve(specifier);
  } catch {
    return specifier === "llm-do" ? existing(new URL(`index${ownExtension}`, ownFolder)) : undefined;
  }
  const built = new URL("../dist/", ownFolder).href;
  if (ownExtension === ".ts" && url.startsWith(built)) {
    return existing(new URL(url.slice(built.length).replace(/\.js$/, ".ts"), ownFolder)) ?? url;
  }
  return url;
}

function typescriptTwin(specifier: string, context: ResolveHookContext, nextResolve: NextResolve): ResolveFnOutput | undefined {
  const twin = specifier.replace(/\.([cm]?)js(?=$|[?#])/, ".$1ts");
  if (twin === specifier || !/^\.{0,2}\/|^file:/.test(specifier)) return undefined;
  try {
    return nextResolve(twin, context);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function existing(url: URL): string | undefined {
  return existsSync(fileURLToPath(withoutQuery(url.href))) ? url.href : undefined;
}

/**
 * A package made by `npm init` says `"type": "commonjs"`, or no type: a `.ts` file that imports and exports is a module all the same. Node
 * would detect it in a package without a type, too, with a warning and by parsing it twice.
 */
function asModule(found: ResolveFnOutput): ResolveFnOutput {
  const [, extension] = /\.(ts|js)$/.exec(withoutQuery(found.url)) ?? [];
  const isOpen = found.format === "commonjs-typescript" || (extension !== undefined && (found.format ?? undefined) === undefined);
  if (!isOpen || extension === undefined || !found.url.startsWith("file:")) return found;
  const text = readFileSync(fileURLToPath(withoutQuery(found.url)), "utf8");
  const isModule = /^\s*(?:import\s*["'{*\w]|export\s+[\w{*])/m.test(text);
  return isModule ? { ...found, format: extension === "ts" ? "module-typescript" : "module" } : found;
}

function isOwnFile(url: string): boolean {
  return url.startsWith(ownFolder.href);
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, "");
}
