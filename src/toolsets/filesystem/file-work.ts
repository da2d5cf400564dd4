import type { Protection, ScopeDeclaration } from "../../host/scopes.ts";
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

/** What a call would do, found out by looking: judged, shown, and then run as it is. */
export interface FileWork {
  /** `edit` writes, and its outcome tells what the file holds. */
  readonly access: "read" | "write" | "edit";
  readonly virtualPath: string;
  /** The scopes whose rules hold. */
  readonly scopes: readonly ScopeDeclaration[];
  readonly protection: Protection | undefined;
  readonly description: string;
  readonly preview?: Preview | undefined;
  /** What rules compare with the path, where the call is about more than this one. */
  readonly pathTexts?: readonly RuleText[];
  execute(access: FileAccess): Promise<JsonValue>;
}

export interface FileAccess extends Pick<PrepareAccess, "scopes" | "signal"> {
  readonly config: FilesystemConfig;
}

export interface PreparedWork {
  readonly canonicalArgs: JsonObject;
  readonly facts: JsonObject;
  readonly content?: NonNullable<Preparation["content"]>;
  readonly work: FileWork;
}

/** One tool of the toolset. */
export interface FileTool {
  readonly name: string;
  readonly writes: boolean;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** `args` fit the schema. Throws `ScopeError`s and `ToolFailure`s. */
  prepare(args: JsonObject, access: FileAccess): Promise<PreparedWork>;
}

export function toPreparation({ work, ...preparation }: PreparedWork): Preparation {
  return { ...preparation, targets: [], payload: work };
}

/** Pure: what its scopes and its name say of a work. */
export function judge(work: Pick<FileWork, "access" | "scopes" | "virtualPath" | "protection">): OwnVerdict {
  const { access, protection, virtualPath } = work;
  if (access !== "read" && protection === "program") return blocked(`"${virtualPath}" belongs to the running program`);
  if (protection === "ask-read-and-write" || (protection === "ask-write" && access !== "read")) {
    return needsApproval(`"${virtualPath}" is a protected name`, "rule");
  }
  const asking = access === "write" ? undefined : work.scopes.find((scope) => scope.readApproval === true);
  if (asking !== undefined) return needsApproval(`read_approval of the scope ${asking.name}`, "rule");
  if (access === "read") return preApproved("reads in a scope do not ask");
  return judgeWrite(work.scopes[0]);
}

function judgeWrite(scope: ScopeDeclaration | undefined): OwnVerdict {
  if (scope?.writeApproval === false) return preApproved(`write_approval: false of the scope ${scope.name}`);
  if (scope?.writeApproval === true) return needsApproval(`write_approval of the scope ${scope.name}`, "rule");
  return needsApproval("writes ask unless their scope says otherwise");
}

/** What calls of a tool can come to in these scopes, each scope by itself; `judge` says it of one call. */
export function outlookOf({ writes, name }: FileTool, scopes: readonly ScopeDeclaration[]): readonly OwnVerdict[] {
  const access = name === "edit_file" ? "edit" : writes ? "write" : "read";
  const within = writes ? scopes.filter(({ mode }) => mode === "rw") : scopes;
  return within.map((scope) => judge({ access, scopes: [scope], virtualPath: scope.name, protection: undefined }));
}

/** Whether somebody must be asked before the content of a file may show in any answer. */
export function asksToRead(scope: ScopeDeclaration, protection: Protection | undefined): boolean {
  return scope.readApproval === true || protection === "ask-read-and-write";
}
