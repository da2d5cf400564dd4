/** The part of the Standard Schema interface (v1, and its JSON Schema extension) that is used here: zod, valibot, arktype, … */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> };
  };
}

/** A schema that says its JSON Schema. */
export interface StandardJsonSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly jsonSchema: { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

export type InferOutput<S> = S extends {
  readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : never;

/** The value that a schema of a library takes, before it coerces or transforms. Unknown for schemas without types. */
export type InferInput<S> = S extends {
  readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : unknown;

export function isStandardSchema(value: unknown): value is StandardSchema {
  return typeof standardOf(value)["validate"] === "function";
}

export function isStandardJsonSchema(value: unknown): value is StandardJsonSchema {
  const { jsonSchema } = standardOf(value);
  return typeof jsonSchema === "object" && jsonSchema !== null;
}

function standardOf(value: unknown): Readonly<Record<string, unknown>> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return {};
  return (value as { readonly "~standard"?: Record<string, unknown> | null })["~standard"] ?? {};
}
