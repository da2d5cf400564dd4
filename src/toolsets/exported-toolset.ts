import { isRecord } from "../protocol/json.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { tool } from "./tool.ts";
import { isGated, isTool, isToolset, type Tool, type Toolset, toolsetMark } from "./toolset.ts";

/** A toolset made of what code exports, and what its code may call. */
export interface ExportedToolset {
  readonly toolset: Toolset;
  readonly calls: readonly string[];
}

/**
 * Makes a toolset of an export: a toolset, a tool, a factory or class that makes a toolset (called once, without arguments), or a
 * foreign toolset: a plain map of tools in the AI SDK's form. Undefined for anything else. Runs the program's code.
 */
export async function exportedToolset(name: string, value: unknown): Promise<ExportedToolset | undefined> {
  if (isToolset(value)) return { toolset: value, calls: [] };
  if (isTool(value)) return { toolset: toolsetOfTools(name, [{ ...value, name }]), calls: value.calls ?? [] };
  if (typeof value === "function") {
    const made: unknown = await make(value as () => unknown);
    return isToolset(made) ? { toolset: made, calls: [] } : undefined;
  }
  if (isForeign(value)) refuseGated(value);
  return isForeign(value) ? { toolset: foreignToolset(name, value), calls: [] } : undefined;
}

function refuseGated(map: Readonly<Record<string, ForeignTool>>): void {
  if (!Object.values(map).some(({ execute }) => isGated(execute))) return;
  throw new TypeError("its tools are gated already: export them without `createToolGate`, and the policy of the run decides");
}

function make(factory: () => unknown): unknown {
  return /^class\b/.test(Function.prototype.toString.call(factory)) ? Reflect.construct(factory, []) : factory();
}

/** One tool in the AI SDK's form. */
interface ForeignTool {
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly execute: (args: unknown, options: object) => unknown;
}

function isForeign(value: unknown): value is Readonly<Record<string, ForeignTool>> {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return false;
  const tools = Object.values(value);
  return (
    tools.length > 0 &&
    tools.every((one) => isRecord(one) && typeof one["execute"] === "function" && one["inputSchema"] !== undefined)
  );
}

/** Asks for every call that `_approval_config` does not pre-approve: nothing is known of these tools. */
function foreignToolset(name: string, map: Readonly<Record<string, ForeignTool>>): Toolset {
  return toolsetOfTools(
    name,
    Object.entries(map).map(([toolName, foreign]) => fromForeign(toolName, foreign)),
  );
}

/** Tools without a configuration, as a toolset that the gate takes. */
export function toolsetOfTools(name: string, tools: readonly Tool[]): Toolset {
  return Object.freeze({ [toolsetMark]: true as const, name, tools: () => tools });
}

function fromForeign(name: string, { description = "", inputSchema, execute }: ForeignTool): Tool {
  return tool({
    name,
    description,
    input: inputSchema as SchemaSource,
    run: (args, runtime) => execute(args, { toolCallId: runtime.callPath, messages: [], abortSignal: runtime.signal }),
  });
}
