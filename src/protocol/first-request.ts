import type { JsonObject } from "./json.ts";
import type { ServerTool, ToolDefinition } from "./tool.ts";

/** The first request of an entry that is a worker, or the input of one that is code. */
export interface FirstRequest {
  readonly entry: string;
  readonly input: JsonObject;
  /** Absent for an entry that is code: it has no model. */
  readonly request?: {
    readonly model: string;
    readonly modelSource: string;
    readonly system: readonly string[];
    readonly user: readonly string[];
    readonly attachments: readonly { readonly name: string; readonly mediaType: string; readonly bytes: number }[];
    readonly tools: readonly ToolDefinition[];
    /** Toolsets whose tools are known only when they connect, as a run does first. */
    readonly unconnected?: readonly string[];
    /** Executed by the provider. */
    readonly serverTools?: readonly ServerTool[];
    readonly output?: JsonObject;
    readonly settings: JsonObject;
  };
}
