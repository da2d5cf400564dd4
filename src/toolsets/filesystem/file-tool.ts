import type { InspectedPath, Protection, ScopeDeclaration } from "../../host/scopes/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import {
  blocked,
  needsApproval,
  type OwnVerdict,
  type Preparation,
  type PrepareAccess,
  preApproved,
  type RuleText,
} from "../toolset.ts";
import type { FilesystemConfig } from "./config.ts";

/** `edit` writes, and its outcome shows what the file holds. */
export type Access = "read" | "write" | "edit";

/** One tool of the toolset. */
export interface FileTool {
  readonly name: string;
  readonly access: Access;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** `args` fit the schema. Throws `ScopeError`s and `ToolFailure`s. */
  prepare(args: JsonObject, access: FileAccess): Promise<FileWork>;
}

export interface FileAccess extends Pick<PrepareAccess, "scopes" | "signal" | "digestToRecord"> {
  readonly config: FilesystemConfig;
}

/** A call as it was prepared: judged, shown, and then run as it is. */
export interface FileWork extends Pick<Preparation, "canonicalArgs" | "facts" | "content" | "recorded"> {
  readonly virtualPath: string;
  /** The scopes whose rules hold. */
  readonly scopes: readonly ScopeDeclaration[];
  readonly protection: Protection | undefined;
  readonly description: string;
  readonly preview?: Preview;
  /** Texts that rules compare with the path, where the call is about more than this one. Default: `virtualPath`. */
  readonly pathTexts?: readonly RuleText[];
  execute(access: FileAccess): Promise<JsonValue>;
}

/** The fields of a work that are about its one file. */
export function aboutFile({ virtualPath, scope, protection }: InspectedPath, facts: JsonObject = {}) {
  const pinned = scope.pinned?.[virtualPath.slice(scope.name.length + 1)];
  const more = pinned === undefined ? {} : { path: virtualPath, pinned };
  return { virtualPath, scopes: [scope], protection, facts: { scope: scope.name, ...more, ...facts } };
}

/** Returns whether a verdict of `judge` is that of the scopes, and not of a protected name, which can be that of a link's target. */
export function isOfScopes({ type, why = "" }: OwnVerdict): boolean {
  return type === "pre-approved" || (type === "needs-approval" && !why.endsWith(protectedName));
}

const protectedName = "is a protected name";

/** Pure: what its scopes and its name say of a work. */
export function judge(access: Access, work: Pick<FileWork, "scopes" | "virtualPath" | "protection">): OwnVerdict {
  const { protection, virtualPath, scopes } = work;
  if (access !== "read" && protection === "program") return blocked(`"${virtualPath}" belongs to the running program`);
  if (protection === "ask-read-and-write" || (protection === "ask-write" && access !== "read")) {
    return needsApproval(`"${virtualPath}" ${protectedName}`, "rule");
  }
  const asking = access === "write" ? undefined : scopes.find((scope) => scope.readApproval === true);
  if (asking !== undefined) return needsApproval(`read_approval of the scope ${asking.name}`, "rule");
  if (access === "read") return preApproved("reads in a scope do not ask");
  const [scope] = scopes;
  if (scope?.writeApproval === false) return preApproved(`write_approval: false of the scope ${scope.name}`);
  if (scope?.writeApproval === true) return needsApproval(`write_approval of the scope ${scope.name}`, "rule");
  return needsApproval("writes ask unless their scope says otherwise");
}

/** True if a person must be asked before the content of a file may show in any answer. */
export function asksToRead(scope: ScopeDeclaration, protection: Protection | undefined): boolean {
  return scope.readApproval === true || protection === "ask-read-and-write";
}
