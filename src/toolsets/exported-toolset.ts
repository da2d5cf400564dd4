import type { FlexibleSchema } from "@ai-sdk/provider-utils";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import type { Schema } from "../schema/schema.ts";
import { isStandardSchema, type StandardSchema } from "../schema/standard-schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { tool } from "./tool.ts";
import { isGated, isTool, isToolset, type Tool, type Toolset, toolsetMark } from "./toolset.ts";

/** A toolset made of what code exports, and what its code may call. */
export interface ExportedToolset {
  readonly toolset: Toolset;
  /** Tools of it whose code calls by name. */
  readonly callers: readonly Tool[];
  /** Present for a class or a factory that takes the configuration. Throws a `TypeError` where it makes no toolset. */
  readonly construct?: (config: unknown) => Promise<Toolset>;
}

/**
 * Makes a toolset of an export: a toolset, a tool, a factory or class that makes a toolset, or a foreign toolset: a plain map of tools in
 * the AI SDK's form. A factory or class without parameters is called once; one with a parameter, or with a static `config`, is called with
 * each configuration.
 * Undefined for anything else. Runs the program's code.
 */
export async function exportedToolset(name: string, value: unknown): Promise<ExportedToolset | undefined> {
  if (isToolset(value)) return { toolset: value, callers: [] };
  if (isTool(value)) {
    const tools = [{ ...value, name }];
    return { toolset: toolsetOfTools(name, tools), callers: callersAmong(tools) };
  }
  if (typeof value === "function" && (value.length > 0 || "config" in value)) return configurable(name, value as Factory);
  const made: unknown = typeof value === "function" ? await make(value as Factory) : value;
  if (isToolset(made)) return { toolset: made, callers: [] };
  const map = isForeignTool(made) ? { [name]: made } : made;
  if (!isForeign(map)) return undefined;
  refuseGated(map);
  return { toolset: await foreignToolset(name, map), callers: [] };
}

function refuseGated(map: Readonly<Record<string, ForeignTool>>): void {
  if (!Object.values(map).some(({ execute }) => isGated(execute))) return;
  throw new TypeError("its tools are gated already: export them without `createToolGate`, and the policy of the run decides");
}

type Factory = ((...config: readonly unknown[]) => unknown) & { readonly config?: SchemaSource };

/** A static `config` is the schema of what it takes. Without one it gets the map as it is. */
function configurable(name: string, factory: Factory): ExportedToolset {
  const { config } = factory;
  const anything: Schema = { jsonSchema: { type: "object" }, validate: (value) => ({ ok: true, value }) };
  const toolset: Toolset = { [toolsetMark]: true, name, config: config ? toSchema(config) : anything, tools: () => [] };
  const construct = async (given: unknown) => {
    const made: unknown = await make(factory, given);
    if (isToolset(made)) return made;
    const map = isForeignTool(made) ? { [name]: made } : made;
    if (isForeign(map)) return foreignToolset(name, map);
    throw new TypeError(
      `for a tool write \`export const ${name} = tool({ … })\`; for a toolset let it return \`toolset({ … })\``,
    );
  };
  return { toolset: Object.freeze(toolset), callers: [], construct };
}

function make(factory: Factory, ...config: readonly unknown[]): unknown {
  return /^class\b/.test(Function.prototype.toString.call(factory)) ? Reflect.construct(factory, config) : factory(...config);
}

/** One tool in the AI SDK's form. */
interface ForeignTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly execute: (args: unknown, options: object) => unknown;
}

function isForeign(value: unknown): value is Readonly<Record<string, ForeignTool>> {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return false;
  const tools = Object.values(value);
  return tools.length > 0 && tools.every(isForeignTool);
}

function isForeignTool(value: unknown): value is ForeignTool {
  return isRecord(value) && typeof value["execute"] === "function" && value["inputSchema"] !== undefined;
}

/** Asks for every call that `_approval_config` does not pre-approve: nothing is known of these tools. */
async function foreignToolset(name: string, map: Readonly<Record<string, ForeignTool>>): Promise<Toolset> {
  return toolsetOfTools(
    name,
    await Promise.all(Object.entries(map).map(([toolName, foreign]) => fromForeign(toolName, foreign))),
  );
}

/** The tools whose code calls others by name. */
export function callersAmong(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ calls = [] }) => calls.length > 0);
}

/** Tools without a configuration, as a toolset that the gate takes. */
export function toolsetOfTools(name: string, tools: readonly Tool[]): Toolset {
  return Object.freeze({ [toolsetMark]: true as const, name, tools: () => tools });
}

/** The AI SDK makes schemas lazily, and knows some only later. */
async function foreignSchema(given: unknown): Promise<SchemaSource> {
  const schema: unknown = typeof given === "function" && !isStandardSchema(given) ? (given as () => unknown)() : given;
  if (isStandardSchema(schema)) return schema["~standard"].jsonSchema ? schema : convertSchema(schema);
  if (!isRecord(schema) || schema["jsonSchema"] === undefined) return schema as SchemaSource;
  const { $schema: _, ...jsonSchema } = (await schema["jsonSchema"]) as JsonObject;
  return jsonSchema;
}

/** The AI SDK knows the JSON Schema of what cannot say it: zod 3, which many packages of tools have. */
async function convertSchema(schema: StandardSchema): Promise<SchemaSource> {
  const { asSchema } = await import("@ai-sdk/provider-utils");
  const jsonSchema = await asSchema(schema as FlexibleSchema).jsonSchema;
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: () => ({ ...jsonSchema }) } } };
}

async function fromForeign(name: string, { description, inputSchema, execute }: ForeignTool): Promise<Tool> {
  return tool({
    name,
    description: typeof description === "string" ? description : "",
    input: await foreignSchema(inputSchema),
    run: (args, runtime) => execute(args, { toolCallId: runtime.callPath, messages: [], abortSignal: runtime.signal }),
  });
}
