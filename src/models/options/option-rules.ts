import type { JsonObject } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import type { Schema } from "../../schema/schema.ts";
import { nearestNames } from "../../util/nearest-names.ts";

/**
 * The `provider_options` that a worker file may set. An option that turns on a tool, storage, another model or another address
 * is in no list: no gate would ask for it.
 */
export interface OptionRules {
  readonly allowed: Readonly<Record<string, JsonSchema>>;
  /** Options that cannot be set, each with what to write instead. */
  readonly refused: Readonly<Record<string, string>>;
}

export interface OptionRefusal {
  /** Keys from the provider's options to the value. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string;
}

const schemas = new WeakMap<OptionRules, Schema>();

/** Reports each option that may not be set, and each value that does not fit. */
export async function checkOptions(options: JsonObject, rules: OptionRules): Promise<readonly OptionRefusal[]> {
  const names = Object.keys(options);
  const refusals = names.flatMap((name) => refuseOption(name, rules) ?? []);
  const allowed = Object.fromEntries(names.filter((name) => isAllowed(name, rules)).map((name) => [name, options[name]]));
  const schema = schemas.get(rules) ?? fromJsonSchema({ type: "object", properties: rules.allowed });
  schemas.set(rules, schema);
  const checked = await schema.validate(allowed);
  if (checked.ok) return refusals;
  const misfits = checked.issues.map(({ path, message }) => ({
    path,
    message,
    hint: "the provider would refuse it, or ignore it",
  }));
  return [...refusals, ...misfits];
}

/** Undefined where the option may be set. */
export function refuseOption(name: string, rules: OptionRules): OptionRefusal | undefined {
  if (isAllowed(name, rules)) return undefined;
  const instead = Object.hasOwn(rules.refused, name) ? rules.refused[name] : undefined;
  if (instead !== undefined) return { path: [name], message: "cannot be set here", hint: instead };
  const names = Object.keys(rules.allowed);
  const near = nearestNames(name, names).map((one) => `\`${one}\``);
  const hint =
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `the options are ${names.map((one) => `\`${one}\``).join(", ")}`;
  return { path: [name], message: "is not an option that llm-do passes on", hint };
}

function isAllowed(name: string, { allowed }: OptionRules): boolean {
  return Object.hasOwn(allowed, name);
}
