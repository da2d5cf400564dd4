import { isRecord } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import type { Schema } from "../schema/schema.ts";
import { type InferOutput, isStandardSchema, type StandardSchema } from "../schema/standard-schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { lastOf } from "../util/async/last-of.ts";
import {
  checkOptions,
  flagOption,
  functionOption,
  type OptionForm,
  type OptionTable,
  oneOf,
  secondsOption,
  textOption,
  textsOption,
} from "../util/check-options.ts";
import { type Tool, type Toolset, toolMark, toolsetMark, type WorkerRuntime } from "./toolset.ts";

export interface ToolOptions<S>
  extends Pick<Tool, "approval" | "sequential" | "sideEffect" | "timeoutSeconds" | "calls" | "replayable"> {
  /** Default: the name of the export in `tools.ts`. */
  readonly name?: string;
  /** Description for the model. */
  readonly description?: string;
  readonly input: S;
  /** As `Tool.reconcile`: says after a crash whether a call had its effect. Default: nobody knows, and a person is asked. */
  readonly reconcile?: Required<Tool>["reconcile"];
  /** May return anything that JSON can hold, or a promise of it. What it throws is told to the model. */
  run(args: S extends StandardSchema ? InferOutput<S> : Record<string, unknown>, runtime: WorkerRuntime): unknown;
}

const schemaOption: OptionForm = {
  wanted: "a schema of zod, valibot or arktype, or JSON Schema",
  fits: (value) => (typeof value === "object" || typeof value === "function") && value !== null,
};

const toolOptions: OptionTable<ToolOptions<unknown>> = {
  name: textOption,
  description: textOption,
  input: schemaOption,
  approval: oneOf("pre-approved", "ask"),
  sequential: flagOption,
  sideEffect: flagOption,
  timeoutSeconds: secondsOption,
  calls: textsOption,
  replayable: flagOption,
  reconcile: functionOption,
  run: functionOption,
};

const renamedToolOptions = {
  execute: "the function is called `run`",
  handler: "the function is called `run`",
  inputSchema: "the schema is called `input`",
  parameters: "the schema is called `input`",
  schema: "the schema is called `input`",
  needsApproval: 'a tool has `approval: "ask"` or `"pre-approved"`; a function that judges each call belongs to `toolset()`',
  preApproved: 'write `approval: "pre-approved"`',
};

/** Makes a tool of a function and a schema. Export it from `tools.ts`, and name the export under a worker's `toolsets`. */
export function tool<const S extends SchemaSource>(options: ToolOptions<S>): Tool {
  checkOptions(options, { path: "tool", table: toolOptions, required: ["input", "run"], renamed: renamedToolOptions });
  const { input, name = "", description = "", run, reconcile, ...rest } = options;
  const schema = toObjectSchema(refuseShape(input));
  return Object.freeze({
    ...rest,
    ...(reconcile ? { reconcile } : {}),
    [toolMark]: true as const,
    name,
    description,
    input: schema,
    execute: (args, runtime) => lastOf(run(args as never, runtime), runtime.signal),
  } satisfies Tool);
}

function toObjectSchema(source: SchemaSource): Schema {
  const schema = toSchema(source);
  const { settle, validate } = schema;
  if (!settle) return requireObject(schema);
  return {
    get jsonSchema() {
      return schema.jsonSchema;
    },
    validate,
    settle: async () => {
      await settle();
      requireObject(schema);
    },
  };
}

function requireObject(schema: Schema): Schema {
  const { type = "object" } = schema.jsonSchema;
  if ([type].flat().includes("object")) return schema;
  throw new TypeError("`tool.input` must describe an object of named arguments, such as `z.object({ title: z.string() })`");
}

/** `{ title: "string" }` and `{ title: z.string() }` are valid JSON Schema that says nothing. */
function refuseShape<S extends SchemaSource>(input: S): S {
  const keys = isRecord(input) ? Object.keys(input) : [];
  const isField = (value: unknown) => typeof value === "string" || isStandardSchema(value);
  const isShape =
    keys.length > 0 && keys.every((key) => isField((input as JsonSchema)[key]) && !/^(?:\$|type$|~standard$)/.test(key));
  if (!isShape) return input;
  const [name = "title"] = keys;
  const example = `z.object({ ${name}: z.string() })`;
  throw new TypeError(
    `\`tool.input\` must be a schema: \`${example}\`, or JSON Schema with \`type: "object"\` and \`properties\``,
  );
}

export type ToolsetOptions<S> = Omit<
  Toolset<S extends StandardSchema ? InferOutput<S> : Record<string, unknown>>,
  typeof toolsetMark | "config" | "tools"
> & {
  /** May be left out of a toolset that connects. */
  readonly tools?: Toolset<S extends StandardSchema ? InferOutput<S> : Record<string, unknown>>["tools"];
  /** Schema of the map under the toolset's reference. Default: an empty map. */
  readonly config?: S;
};

export const toolsetOptions: OptionTable<ToolsetOptions<unknown>> = {
  name: textOption,
  config: schemaOption,
  requires: textsOption,
  tools: functionOption,
  connect: functionOption,
  estimate: functionOption,
  lifetime: oneOf("run", "call"),
  session: flagOption,
  targets: functionOption,
  prepare: functionOption,
  needsApproval: functionOption,
  judgeRecorded: functionOption,
  outlook: functionOption,
  rules: functionOption,
  warnings: functionOption,
  narrow: functionOption,
  ruleTexts: functionOption,
  grants: textsOption,
  describeCall: functionOption,
  preview: functionOption,
  open: functionOption,
  close: functionOption,
};

const renamedToolsetOptions = { approval: "write `needsApproval`, a function that returns a verdict for each call" };

/**
 * Makes a toolset of a plain object: a named, configured collection of tools with a lifecycle and its own verdicts. Throws a
 * `TypeError` if it could have no tool.
 */
export function toolset<const S extends SchemaSource = Record<string, never>>(options: ToolsetOptions<S>): Toolset {
  checkOptions(options, { path: "toolset", table: toolsetOptions, required: ["name"], renamed: renamedToolsetOptions });
  const { config, ...rest } = options;
  const ofConnections = (["lifetime", "session"] as const).find((key) => rest[key] !== undefined);
  if (!rest.connect && ofConnections)
    throw new TypeError(`\`toolset.${ofConnections}\` says something of a connection, and the toolset has no \`connect\``);
  if (!rest.tools && !rest.connect) throw new TypeError(`the toolset \`${rest.name}\` has neither \`tools\` nor \`connect\``);
  return Object.freeze({
    tools: () => [],
    ...rest,
    [toolsetMark]: true as const,
    ...(config ? { config: toSchema(config) } : {}),
  }) as unknown as Toolset;
}
