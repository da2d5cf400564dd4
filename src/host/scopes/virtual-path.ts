import { type Allowed, pathOutsideScope } from "./scope-refusals.ts";
import { type ResolvedPath, type ScopeDeclaration, ScopeError } from "./scopes.ts";

export const defaultScopeName = ".";
const maxPathLength = 4096;
const maxComponentBytes = 255;

export interface PathRules {
  readonly scopes: ReadonlyMap<string, ScopeDeclaration>;
  readonly allowed: Allowed;
  /** Rejects names that Windows would read as other names. */
  readonly strictNames: boolean;
}

/**
 * Reads `scope/rest`, `scope:rest` or, in the default scope, `rest`, whether it exists or not. There is one way to
 * write a component: no `..`, no escape, no second separator. So the checked path is the opened one.
 */
export function resolveVirtualPath(virtualPath: string, rules: PathRules): ResolvedPath {
  assertCharacters(virtualPath);
  const { scope, rest } = splitScope(virtualPath, rules);
  const components = rest.split("/").filter((component) => component !== "" && component !== ".");
  for (const component of components) assertComponent(component, rules);
  return { scope, components, virtualPath: formatVirtualPath(scope.name, components, rules.scopes) };
}

/** The one spelling of a path; U+FFFD stands for bytes that are no UTF-8. A folder of the default scope that a named scope hides keeps the prefix `.:`. */
export function formatVirtualPath(
  scopeName: string,
  components: readonly string[],
  scopes: { has(name: string): boolean },
): string {
  if (scopeName !== defaultScopeName) return [scopeName, ...components].join("/").toWellFormed();
  const [first] = components;
  if (first === undefined) return ".";
  const path = components.join("/").toWellFormed();
  return first !== defaultScopeName && hides(first, scopes) ? `.:${path}` : path;
}

/** Returns whether a path in the default scope that begins with this name would be read as one of a named scope. */
function hides(first: string, scopes: { has(name: string): boolean }): boolean {
  if (scopes.has(first) || first.startsWith("~") || driveLetter.test(first)) return true;
  const colon = first.indexOf(":");
  return colon > 0 && scopes.has(first.slice(0, colon));
}

const driveLetter = /^[A-Za-z]:/;

function splitScope(virtualPath: string, rules: PathRules): { scope: ScopeDeclaration; rest: string } {
  const colon = virtualPath.indexOf(":");
  const named = colon > 0 ? rules.scopes.get(virtualPath.slice(0, colon)) : undefined;
  if (named !== undefined) return { scope: named, rest: relativePart(virtualPath.slice(colon + 1), rules) };
  assertRelative(virtualPath, rules);
  const path = virtualPath.replace(/^(?:\.\/+)+/, "");
  const slash = path.indexOf("/");
  const first = slash === -1 ? path : path.slice(0, slash);
  const scope = first === "" || first === "." ? undefined : rules.scopes.get(first);
  if (scope !== undefined) return { scope, rest: slash === -1 ? "" : relativePart(path.slice(slash + 1), rules) };
  const standard = rules.scopes.get(defaultScopeName);
  if (standard !== undefined) return { scope: standard, rest: path };
  throw pathOutsideScope("A path must begin with the name of a scope.", rules.allowed);
}

function assertRelative(virtualPath: string, rules: PathRules): void {
  if (virtualPath.startsWith("/")) throw pathOutsideScope("An absolute path cannot be used.", rules.allowed);
  if (virtualPath.startsWith("~"))
    throw pathOutsideScope('A path cannot begin with "~": there is no home folder.', rules.allowed);
  if (driveLetter.test(virtualPath)) throw pathOutsideScope("A path with a drive letter cannot be used.", rules.allowed);
}

function relativePart(rest: string, rules: PathRules): string {
  if (rest.startsWith("/")) throw pathOutsideScope("An absolute path cannot be used behind a scope.", rules.allowed);
  return rest;
}

function assertCharacters(virtualPath: string): void {
  if (typeof virtualPath !== "string") throw new ScopeError("invalid_path", "A path must be text.");
  if (virtualPath.length > maxPathLength) throw new ScopeError("invalid_path", `A path has at most ${maxPathLength} characters.`);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(virtualPath) || !virtualPath.isWellFormed()) {
    throw new ScopeError("invalid_path", "A path cannot hold control characters or broken Unicode.");
  }
  if (virtualPath.includes("\\")) {
    throw new ScopeError("invalid_path", "A path cannot hold a backslash.", { hint: "Put / between folders." });
  }
}

function assertComponent(component: string, rules: PathRules): void {
  if (component === "..") {
    throw pathOutsideScope('A path cannot hold "..": write it from the beginning of its scope.', rules.allowed);
  }
  if (Buffer.byteLength(component) > maxComponentBytes) {
    throw new ScopeError("invalid_path", `A name in a path has at most ${maxComponentBytes} bytes.`);
  }
  if (rules.strictNames && isUnportable(component)) {
    throw new ScopeError("invalid_path", "A name in the path means something else on this system.", {
      hint: 'Do without <>:"|?*, a dot or blank at the end, short names such as ABCDEF~1, and device names such as NUL.',
    });
  }
}

/** Returns whether a name found on disk can be a component of a virtual path. */
export function isNameable(name: string): boolean {
  // The `u` flag limits the surrogates to those without a partner, which is what makes a text not well formed.
  return !/[\u0000-\u001f\u007f-\u009f\\\ufffd\ud800-\udfff]/u.test(name);
}

const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?:\.|$)/i;

function isUnportable(component: string): boolean {
  return /[<>:"|?*]/.test(component) || /[. ]$/.test(component) || /~\d/.test(component) || deviceName.test(component);
}
