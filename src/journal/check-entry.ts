import type { FactType } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";

type Shape = "string" | "number" | "boolean" | "object" | "any" | { readonly [field: string]: Shape };

const usage = { requests: "number", inputTokens: "number", outputTokens: "number", cachedInputTokens: "number" } as const;
const callInput = { input: "any", files: "any", fragments: "any" } as const;
const keyed = { callPath: "string", key: "string" } as const;

/** The fields that an entry of each type has to have. Others may come and go between versions of llm-do. */
const shapes: Readonly<Record<FactType, Readonly<Record<string, Shape>>>> = {
  "run-start": {
    ...{
      runId: "string",
      program: "string",
      programDigest: "string",
      entry: "string",
      mode: "string",
      version: "string",
      onDenied: "string",
    },
    ...{ limits: "object", input: callInput },
  },
  "run-end": { stopReason: "string", usage, denied: "number" },
  "call-start": { callPath: "string", kind: "string", name: "string", depth: "number", input: callInput },
  "call-end": { callPath: "string", stopReason: "string", usage },
  verdict: {
    ...keyed,
    tool: "string",
    args: "object",
    facts: "object",
    digest: "string",
    verdict: { type: "string", why: "string" },
  },
  refusal: { ...keyed, tool: "string", error: { type: "string", error: "string" } },
  decision: { ...keyed, tool: "string", decision: { type: "string" }, source: "string" },
  revocation: { callPath: "string", worker: "string", tool: "string", memory: "string" },
  grant: { ...keyed, tool: "string" },
  intent: { ...keyed, kind: "string", digest: "string", sideEffect: "boolean", detail: "object" },
  result: { ...keyed, kind: "string", outcome: { type: "string" } },
  limit: { ...keyed, limit: "string", allowed: "number" },
  artifact: { ...keyed, name: "string", sha256: "string" },
};

/** Returns what is wrong with an entry; undefined where it has all that its type needs. */
export function findEntryProblem(entry: Readonly<Record<string, unknown>>): string | undefined {
  const { type } = entry;
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type as FactType] : undefined;
  if (!shape) return `there is no entry of the type ${JSON.stringify(type)}`;
  const field = findMissing(entry, { time: "number", ...shape }, []);
  return field && `the field \`${field.join(".")}\` of this ${String(type)} entry is missing or damaged`;
}

function findMissing(
  value: Readonly<Record<string, unknown>>,
  shape: Readonly<Record<string, Shape>>,
  path: readonly string[],
): readonly string[] | undefined {
  for (const [field, expected] of Object.entries(shape)) {
    const member = value[field];
    const here = [...path, field];
    if (typeof expected === "object") {
      const missing = isRecord(member) ? findMissing(member, expected, here) : here;
      if (missing) return missing;
    } else if (!hasShape(member, expected)) return here;
  }
  return undefined;
}

function hasShape(member: unknown, expected: Exclude<Shape, object>): boolean {
  if (expected === "any") return member !== undefined;
  return expected === "object" ? isRecord(member) : typeof member === expected;
}
