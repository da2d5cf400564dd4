import { fileTooLarge, notWritable, pathOutsideScope } from "../../host/scopes/scope-refusals.ts";
import { type InspectedPath, maxReadBytes, ScopeError, type Scopes } from "../../host/scopes/scopes.ts";
import type { FilesystemConfig } from "./config.ts";
import type { FileAccess } from "./file-tool.ts";

/** True if an instance of the toolset sees a scope. */
export function sees({ scopes }: FilesystemConfig, name: string): boolean {
  return scopes?.includes(name) ?? true;
}

/** Looks at a file as far as this instance sees its scope. Refusals name no scope that it does not see. */
export async function inspectVisible(access: FileAccess, virtualPath: string, how: "read" | "write"): Promise<InspectedPath> {
  return seeing(access, async () => {
    assertVisible(access, access.scopes.covered(virtualPath)[0]);
    const target = await access.scopes.inspect(virtualPath, how);
    assertVisible(access, target.scope);
    const limit = target.scope.maxFileBytes ?? maxReadBytes;
    if (how === "read" && (target.facts?.bytes ?? 0) > limit) throw fileTooLarge(target.virtualPath, limit);
    return target;
  });
}

/** The scopes whose files a list or search from here shows. */
export function coveredVisible(access: FileAccess, virtualPath: string) {
  const visible = access.scopes.covered(virtualPath).filter(({ name }) => sees(access.config, name));
  assertVisible(access, visible[0]);
  return visible;
}

/** `.` where there is no default scope means all scopes side by side. */
export function isEverything(scopes: Scopes, virtualPath: string): boolean {
  return !scopes.readable().includes(".") && ["", ".", "./"].includes(virtualPath);
}

/** Words a refusal anew, for the scopes that this instance sees. */
export async function seeing<T>(access: FileAccess, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ScopeError) || access.config.scopes === undefined) throw error;
    if (error.type === "path_outside_scope") throw pathOutsideScope(error.message, allowedIn(access));
    if (error.type === "path_not_writable") throw notWritable(error.message, allowedIn(access));
    throw error;
  }
}

function allowedIn({ scopes, config }: FileAccess) {
  const visible = (name: string) => sees(config, name);
  return { readable: scopes.readable().filter(visible), writable: scopes.writable().filter(visible) };
}

function assertVisible(access: FileAccess, scope: { readonly name: string } | undefined): void {
  if (scope !== undefined && sees(access.config, scope.name)) return;
  throw pathOutsideScope("The path lies in a scope that these tools do not see.", allowedIn(access));
}
