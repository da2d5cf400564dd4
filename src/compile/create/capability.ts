import type { ModelSettings } from "../../models/model.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OutlinedScope } from "../../protocol/outline.ts";
import type { ServerTool } from "../../protocol/tool.ts";
import type { Limits } from "../../protocol/usage.ts";

/** All that a worker may do by itself, as plain data in the words of its file. What is not named is not there. */
export interface Capability {
  /** The models that it may run on. The first is its own. */
  readonly models: readonly string[];
  readonly modelSettings: ModelSettings;
  /** The default scope has the name `.`. */
  readonly scopes: readonly OutlinedScope[];
  readonly network: boolean;
  readonly isolationRequired: boolean;
  readonly attachments: AttachmentPolicy;
  readonly serverTools: readonly ServerTool[];
  readonly limits: Limits;
  /** By reference. */
  readonly toolsets: Readonly<Record<string, ToolsetCapability>>;
}

export interface ToolsetCapability {
  /** As its author wrote it. */
  readonly config: JsonObject;
  /** `_approval_config`: a tool, or `*`, to pre-approved. */
  readonly approvals: Readonly<Record<string, boolean>>;
}

/** A wanted worker, in the words of its file. Only its grammar has been checked. */
export interface WorkerWish {
  readonly model?: string;
  readonly model_settings?: ModelSettings;
  readonly sandbox?: SandboxWish;
  readonly toolsets?: Readonly<Record<string, ToolsetWish>>;
  readonly server_side_tools?: readonly ServerToolWish[];
  readonly attachment_policy?: AttachmentWish;
  readonly limits?: Limits;
}

export interface SandboxWish {
  /** Absent: the default scope. */
  readonly paths?: Readonly<Record<string, ScopeWish>>;
  readonly network_enabled?: boolean;
  readonly required?: boolean;
}

export interface ScopeWish {
  /** As in the outline. Absent: that of the creator's scope of the same name. */
  readonly root?: string;
  readonly mode?: "ro" | "rw";
  readonly suffixes?: readonly string[];
  readonly max_file_bytes?: number;
  readonly write_approval?: boolean;
  readonly read_approval?: boolean;
}

export interface ToolsetWish {
  /** Empty: the creator's. */
  readonly config: JsonObject;
  readonly approvals?: Readonly<Record<string, boolean>>;
}

export interface ServerToolWish extends Omit<ServerTool, "type"> {
  readonly tool_type: ServerTool["type"];
}

export interface AttachmentWish {
  readonly max_attachments?: number;
  readonly max_total_bytes?: number;
  readonly allowed_suffixes?: readonly string[];
  readonly denied_suffixes?: readonly string[];
  readonly media_types?: readonly string[];
}

/** A part of a wish that goes beyond the creator, in words: what, and what may be had. */
export type Refusal = string;
export type Refuse = (refusal: Refusal) => undefined;

/** Names in backticks, or that there is none. */
export function offer(names: readonly string[]): string {
  return names.length === 0 ? "there is none to be had" : `to be had: ${names.map((name) => `\`${name}\``).join(", ")}`;
}
