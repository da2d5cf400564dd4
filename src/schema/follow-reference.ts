import type { JsonSchema } from "../protocol/tool.ts";

/** Returns the schema that a JSON Pointer in a fragment names (RFC 6901, section 6); undefined for any other reference. */
export function followReference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce<unknown>(
    (found, step) =>
      typeof found === "object" && found !== null && Object.hasOwn(found, step) ? found[step as never] : undefined,
    root,
  );
}
