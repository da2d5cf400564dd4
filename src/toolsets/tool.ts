import type { InferOutput, StandardSchema } from "../schema/standard-schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { type Tool, type Toolset, toolMark, toolsetMark, type WorkerRuntime } from "./toolset.ts";

export interface ToolOptions<S> {
  /** Default: the name of the export in `tools.ts`. */
  readonly name?: string;
  /** What a model is told the tool does. */
  readonly description?: string;
  readonly input: S;
  /** Default: every call asks, unless the worker's author pre-approves it. */
  readonly approval?: "pre-approved" | "ask";
  readonly sequential?: boolean;
  /** Say false only of a tool that changes nothing anywhere. Default true. */
  readonly sideEffect?: boolean;
  /** The workers and tools that `run` calls through its runtime; it reaches no others. */
  readonly calls?: readonly string[];
  /** May return anything that JSON can hold, or a promise of it. What it throws is told to the model. */
  run(args: S extends StandardSchema ? InferOutput<S> : Record<string, unknown>, runtime: WorkerRuntime): unknown;
}

/** Makes a tool of a function and a schema. Export it from `tools.ts`, and name the export under a worker's `toolsets`. */
export function tool<const S extends SchemaSource>(options: ToolOptions<S>): Tool {
  const { input, name = "", description = "", run, ...rest } = options;
  const schema = toSchema(input);
  return Object.freeze({
    ...rest,
    [toolMark]: true as const,
    name,
    description,
    input: schema,
    execute: (args, runtime) => run(args as never, runtime),
  } satisfies Tool);
}

export type ToolsetOptions<S> = Omit<
  Toolset<S extends StandardSchema ? InferOutput<S> : Record<string, unknown>>,
  typeof toolsetMark | "config" | "tools"
> & {
  /** May be left out of a toolset that connects. */
  readonly tools?: Toolset<S extends StandardSchema ? InferOutput<S> : Record<string, unknown>>["tools"];
  /** What the map under the toolset's reference may hold. Default: nothing. */
  readonly config?: S;
};

/**
 * Makes a toolset of a plain object: a named, configured collection of tools with a lifecycle and its own verdicts. Throws a
 * `TypeError` where it could have no tool.
 */
export function toolset<const S extends SchemaSource = Record<string, never>>(options: ToolsetOptions<S>): Toolset {
  const { config, ...rest } = options;
  if (!rest.tools && !rest.connect) throw new TypeError(`the toolset \`${rest.name}\` has neither \`tools\` nor \`connect\``);
  return Object.freeze({
    tools: () => [],
    ...rest,
    [toolsetMark]: true as const,
    ...(config ? { config: toSchema(config) } : {}),
  }) as unknown as Toolset;
}
