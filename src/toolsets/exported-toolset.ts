import { isRecord, type JsonObject } from "../protocol/json.ts";
import type { Schema } from "../schema/schema.ts";
import { isStandardSchema } from "../schema/standard-schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { tool, toolset, toolsetOptions } from "./tool.ts";
import { isGated, isTool, isToolset, type Tool, type Toolset, toolsetMark } from "./toolset.ts";

/** A toolset made of what code exports, and what its code may call. */
export interface ExportedToolset {
  readonly toolset: Toolset;
  /** Tools of it whose code calls by name. */
  readonly callers: readonly Tool[];
  /** Present for a class or a factory that takes the configuration. Throws a `TypeError` if it makes no toolset. */
  readonly construct?: (config: unknown) => Promise<Toolset>;
}

/**
 * Makes a toolset of an export: a toolset, a tool, a factory or class that makes a toolset, or a map of tools, which can have the AI SDK's
 * form. A factory or class without parameters is called once; one with a parameter, or with a static `config`, is called with each
 * configuration.
 * Undefined for anything else. Throws a `TypeError` that names the member of a map that is no tool. Runs the program's code.
 */
export async function exportedToolset(name: string, value: unknown): Promise<ExportedToolset | undefined> {
  if (isToolset(value)) return { toolset: value, callers: [] };
  if (isTool(value)) {
    const tools = [{ ...value, name }];
    return { toolset: toolsetOfTools(name, tools), callers: callersAmong(tools) };
  }
  if (typeof value === "function" && ("config" in value || takesParameter(value))) return configurable(name, value as Factory);
  const made: unknown = typeof value === "function" ? await make(value as Factory) : value;
  const toolset = await toolsetOf(name, made);
  return toolset && { toolset, callers: [] };
}

/** Makes a toolset of what a factory made, or of an export that is none. */
async function toolsetOf(name: string, made: unknown): Promise<Toolset | undefined> {
  if (isToolset(made)) return made;
  if (isTool(made)) return toolsetOfTools(name, [{ ...made, name }]);
  if (hasTools(made)) return toolsetOfInstance(name, made);
  const map = isForeignTool(made) ? { [name]: made } : made;
  if (!isToolMap(map)) return undefined;
  refuseGated(map);
  return toolsetOfMap(name, map);
}

/** An object of a class that was written as a toolset, without `toolset()`. */
function hasTools(made: unknown): made is Readonly<Record<string, unknown>> {
  return isRecord(made) && (typeof made["tools"] === "function" || typeof made["connect"] === "function");
}

/** Its methods are members of the toolset. A field that a toolset does not have is its own. */
function toolsetOfInstance(name: string, instance: Readonly<Record<string, unknown>>): Toolset {
  const members = Object.keys(toolsetOptions).flatMap((key) => {
    const value = key === "config" ? undefined : instance[key];
    if (value === undefined) return [];
    return [[key, typeof value === "function" ? value.bind(instance) : value] as const];
  });
  return toolset({ name, ...Object.fromEntries(members) });
}

function refuseGated(map: ToolMap): void {
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
    const made = await toolsetOf(name, await make(factory, given));
    if (made) return made;
    throw new TypeError(
      `for a tool write \`export const ${name} = tool({ … })\`; for a toolset let it return \`toolset({ … })\`, or write a class with a method \`tools()\``,
    );
  };
  return { toolset: Object.freeze(toolset), callers: [], construct };
}

function make(factory: Factory, ...config: readonly unknown[]): unknown {
  return isClass(factory) ? Reflect.construct(factory, config) : factory(...config);
}

/** Returns whether a function names a parameter: one with a default does not count for its `length`. */
function takesParameter(factory: object & { readonly length?: number }): boolean {
  if ((factory.length ?? 0) > 0) return true;
  const text = Function.prototype.toString.call(factory).replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, "");
  const [, first = ""] = (isClass(factory) ? /\bconstructor\s*\(\s*(.)/s : /^[^(]*\(\s*(.)/s).exec(text) ?? [];
  return first !== "" && first !== ")" && !text.endsWith("{ [native code] }");
}

function isClass(factory: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(factory));
}

/** One tool in the AI SDK's form. Some are functions, which make the same tool with other options. */
interface ForeignTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly execute: (args: unknown, options: object) => unknown;
}

type ToolMap = Readonly<Record<string, ForeignTool | Tool>>;

/** Throws a `TypeError` for a map that holds tools and something else. */
function isToolMap(value: unknown): value is ToolMap {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return false;
  const members = Object.entries(value);
  const isOne = ([, member]: readonly [string, unknown]) => isTool(member) || isForeignTool(member);
  if (members.length > 0 && members.every(isOne)) return true;
  if (!members.some(([, member]) => isTool(member) || looksForeign(member))) return false;
  const [other = ""] = members.find((member) => !isOne(member)) ?? [];
  const why = looksForeign(value[other]) ? "has no `execute`, so nothing here can run it" : "is no tool";
  throw new TypeError(`its member \`${other}\` ${why}; export the others without it`);
}

function isForeignTool(value: unknown): value is ForeignTool {
  return looksForeign(value) && typeof value["execute"] === "function";
}

function looksForeign(value: unknown): value is Readonly<Record<string, unknown>> {
  return (isRecord(value) || typeof value === "function") && (value as Partial<ForeignTool>).inputSchema !== undefined;
}

/** Asks for every call of a foreign tool that `_approval_config` does not pre-approve: nothing is known of it. */
async function toolsetOfMap(name: string, map: ToolMap): Promise<Toolset> {
  const tools = Object.entries(map).map(([key, member]) =>
    isTool(member) ? { ...member, name: member.name || key } : fromForeign(key, member),
  );
  return toolsetOfTools(name, await Promise.all(tools));
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
  if (isStandardSchema(schema) || !isRecord(schema) || schema["jsonSchema"] === undefined) return schema as SchemaSource;
  return (await schema["jsonSchema"]) as JsonObject;
}

async function fromForeign(name: string, { description, inputSchema, execute }: ForeignTool): Promise<Tool> {
  return tool({
    name,
    description: typeof description === "string" ? description : "",
    input: await foreignSchema(inputSchema),
    run: (args, runtime) => execute(args, { toolCallId: runtime.callPath, messages: [], abortSignal: runtime.signal }),
  });
}
