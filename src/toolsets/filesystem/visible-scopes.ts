import { fileTooLarge, notWritable, pathOutsideScope } from "../../host/scope-refusals.ts";
import { type InspectedPath, maxReadBytes, type ScopeDeclaration, ScopeError, type Scopes } from "../../host/scopes.ts";
import type { FileAccess } from "./file-work.ts";

/** Looks at a file as far as this instance sees its scope; refusals name no scope that it does not see. */
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
export function coveredVisible(access: FileAccess, virtualPath: string): readonly ScopeDeclaration[] {
  const visible = access.scopes.covered(virtualPath).filter((scope) => isVisible(access, scope.name));
  if (visible.length === 0) assertVisible(access, undefined);
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
    if (error.type === "path_outside_scope") throw pathOutsideScope(error.message, allowedOf(access));
    if (error.type === "path_not_writable") throw notWritable(error.message, allowedOf(access));
    throw error;
  }
}

export function allowedOf({ scopes, config }: FileAccess) {
  const isSeen = (name: string) => config.scopes?.includes(name) ?? true;
  return { readable: scopes.readable().filter(isSeen), writable: scopes.writable().filter(isSeen) };
}

function isVisible({ config }: FileAccess, name: string): boolean {
  return config.scopes?.includes(name) ?? true;
}

function assertVisible(access: FileAccess, scope: ScopeDeclaration | undefined): void {
  if (scope !== undefined && isVisible(access, scope.name)) return;
  throw pathOutsideScope("The path lies in a scope that these tools do not see.", allowedOf(access));
}
