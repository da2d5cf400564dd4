import type { EffectKind, FactType, JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";

/** `numbers`: by names. `prices`: a list, by models. `places`: a list of numbers. `parts`: of a message. `outcome`: of a tool. */
type Kind =
  | "string"
  | "number"
  | "boolean"
  | "object"
  | "numbers"
  | "prices"
  | "places"
  | "strings"
  | "files"
  | "parts"
  | "dropped"
  | "messages"
  | "rules"
  | "outcome"
  | "any";

/**
 * `content` fields hold what models, tools and people wrote: they are redacted, and long texts in them are kept in blobs, so that a reference
 * can be in the place of a string.
 */
export type Field = Kind | `content ${Kind}` | Fields;

/** A `?` at the end of a name: the field can be absent. */
export interface Fields {
  readonly [name: string]: Field;
}

const usage = {
  ...{ requests: "number", inputTokens: "number", outputTokens: "number", cachedInputTokens: "number" },
  ...{ "reasoningTokens?": "number", "cacheWriteTokens?": "number", "estimatedTokens?": "number", "unknownTokens?": "number" },
  ...{ "usd?": "number", "usdAtLeast?": "boolean", "savedUsd?": "number", "unknownUsd?": "number" },
} satisfies Fields;
const callInput = { input: "content any", files: "content files", fragments: "content strings" } satisfies Fields;
const keyed = { callPath: "string", key: "string" } satisfies Fields;
const terms = {
  ...{ programDigest: "string", mode: "string", onDenied: "string", "onUnanswered?": "string", limits: "numbers" },
  ...{ "prices?": "prices", "rules?": "content rules", version: "string" },
} satisfies Fields;
const end = {
  ...{ stopReason: "string", "reason?": "content string", usage },
  ...{ "output?": "content any", "error?": "content object" },
} satisfies Fields;
const toolError = {
  type: "string",
  error: "content string",
  "hint?": "content string",
  "details?": "content object",
} satisfies Fields;
const decision = {
  ...{ type: "string", "remember?": "string", "rule?": "content string" },
  ...{ "args?": "content object", "note?": "content string" },
} satisfies Fields;

/** The fields of each type of fact. Fields that are not named here are content, and not checked. */
export const factFields: Readonly<Record<FactType, Fields>> = {
  "run-start": {
    ...{ ...terms, runId: "string", program: "string", entry: "string", input: callInput },
    ...{ "owner?": "string", "files?": "object", "forkOf?": "string", "gateEntry?": "boolean" },
    "history?": "content messages",
    "compiled?": {
      ...{ target: "string", "files?": "strings", "workers?": "strings", "entry?": "string", "model?": "string" },
      ...{ "set?": "content strings", "modelFor?": "strings", "checks?": "boolean" },
    },
  },
  attempt: { ...terms, number: "number", voids: "places", owner: "string" },
  "run-end": { ...end, denied: "number" },
  "call-start": {
    ...{ callPath: "string", kind: "string", name: "string", depth: "number", "model?": "string", "modelSource?": "string" },
    input: callInput,
  },
  "call-end": { callPath: "string", ...end, "result?": "content outcome" },
  verdict: {
    ...{ ...keyed, tool: "string", args: "content object", facts: "content object", digest: "string" },
    ...{ verdict: { type: "string", why: "content string", "isUnstated?": "boolean" } },
    ...{ "sideEffect?": "boolean", "hint?": "content string", "recorded?": "object", "asked?": "string" },
    "said?": "content object",
  },
  refusal: { ...keyed, tool: "string", error: toolError },
  decision: {
    ...{ ...keyed, tool: "string", decision, source: "string", "memory?": "string" },
    "remembered?": { worker: "string", reference: "string", tool: "string", args: "content object", shown: "strings" },
    "allowed?": { memory: "string", worker: "string", tool: "string", rule: "content string" },
    "denied?": {
      ...{ callPath: "string", worker: "string", tool: "string", description: "content string", source: "string" },
      ...{ "note?": "content string", "allow?": "content string", "rule?": "content string" },
    },
    "stops?": "boolean",
  },
  revocation: { callPath: "string", worker: "string", tool: "string", memory: "string" },
  grant: { ...keyed, tool: "string" },
  intent: { ...keyed, kind: "string", digest: "string", sideEffect: "boolean", detail: "content object" },
  result: {
    ...{ ...keyed, kind: "string", "digest?": "string", "shared?": "boolean" },
    outcome: { type: "string", "value?": "content any", "error?": "content object", "usage?": usage },
  },
  answer: { ...keyed, digest: "string", "shown?": "string", decision },
  abort: { callPath: "string" },
  limit: { ...keyed, limit: "string", allowed: "number", "owner?": "string" },
  "code-call": { ...keyed, path: "string" },
  cut: { ...keyed, tool: "string", id: "string", characters: "number", shown: "content string" },
  compaction: { ...keyed, window: "number", before: "number", after: "number", dropped: "dropped" },
  worker: {
    ...{ ...keyed, name: "string", id: "string", file: "string", digest: "string" },
    ...{ text: "content string", capability: "content object" },
  },
  undo: { restored: "content strings", removed: "content strings", left: "content strings" },
  artifact: { ...keyed, name: "string", sha256: "string" },
  checked: {
    ...{ ...keyed, worker: "string", "agrees?": "boolean" },
    ...{ "different?": "strings", "skipped?": "content string" },
  },
};

/** The required fields of a value outcome, by the kind of its effect. */
const outcomeFields: Readonly<Record<EffectKind, Fields | "outcome">> = {
  model: { message: { role: "string", parts: "parts" }, usage, finish: "content string", bound: "any" },
  tool: "outcome",
  question: { decision, source: "string" },
  connect: { tools: "any", fingerprint: "string", "session?": "boolean" },
  step: { value: "any" },
};

/** Returns the problem of an entry; undefined if it has all that its type needs. */
export function findEntryProblem(entry: JournalEntry): string | undefined {
  const fields: Fields | undefined = Object.hasOwn(factFields, entry.type) ? factFields[entry.type] : undefined;
  if (!fields) return `there is no entry of the type ${JSON.stringify(entry.type)}`;
  const path =
    findDamage(entry, { time: "number", ...fields }) ?? (entry.type === "result" ? findOutcomeDamage(entry) : undefined);
  return path && `the field \`${path.join(".")}\` of this ${entry.type} entry is missing or damaged`;
}

function findOutcomeDamage({ kind, outcome }: Extract<JournalEntry, { readonly type: "result" }>): readonly string[] | undefined {
  if (outcome.type === "interrupted") return undefined;
  if (outcome.type === "error") return isRecord(outcome.error) ? undefined : ["outcome", "error"];
  const fields = Object.hasOwn(outcomeFields, kind) ? outcomeFields[kind] : undefined;
  if (outcome.type !== "value" || outcome.value === undefined || !fields) return ["outcome"];
  const damage = findDamage(outcome, { value: fields });
  return damage && ["outcome", ...damage];
}

/** Returns the path of the first field that is missing or of another type. */
function findDamage(value: object, fields: Fields): readonly string[] | undefined {
  for (const [name, field] of Object.entries(fields)) {
    const isOptional = name.endsWith("?");
    const key = isOptional ? name.slice(0, -1) : name;
    const member: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    if (member === undefined && isOptional) continue;
    if (typeof field === "object") {
      const damage = isRecord(member) ? findDamage(member, field) : [];
      if (damage) return [key, ...damage];
    } else if (!isOfField(member, field)) return [key];
  }
  return undefined;
}

function isOfField(member: unknown, field: Exclude<Field, Fields>): boolean {
  const kind = field.replace("content ", "");
  switch (kind) {
    case "string":
      return typeof member === "string" || (field === "content string" && isReference(member));
    case "any":
      return member !== undefined;
    case "object":
      return isRecord(member);
    case "numbers":
      return isRecord(member) && Object.values(member).every((one) => typeof one === "number");
    case "prices":
      return Array.isArray(member) && member.every((one) => isRecord(one) && findDamage(one, priceFields) === undefined);
    case "places":
      return Array.isArray(member) && member.every((one) => typeof one === "number");
    case "strings":
      return (
        Array.isArray(member) &&
        member.every((one) => typeof one === "string" || (field === "content strings" && isReference(one)))
      );
    case "files":
      return Array.isArray(member) && member.every((file) => isRecord(file) && findDamage(file, fileFields) === undefined);
    case "dropped":
      return Array.isArray(member) && member.every((one) => isRecord(one) && findDamage(one, droppedFields) === undefined);
    case "parts":
      return Array.isArray(member) && member.every(isPart);
    case "rules":
      return Array.isArray(member) && member.every((one) => isRecord(one) && findDamage(one, ruleFields) === undefined);
    case "outcome":
      return isRecord(member) && findDamage(member, member["ok"] === true ? valueFields : errorFields) === undefined;
    case "messages":
      return Array.isArray(member) && member.every((one) => isRecord(one) && findDamage(one, messageFields) === undefined);
    default:
      return typeof member === kind;
  }
}

const fileFields: Fields = {
  ...{ type: "string", name: "content string", mediaType: "content string", bytes: "number", sha256: "string" },
  data: "content string",
};

const ruleFields: Fields = { effect: "string", rule: "content string", "source?": "content string" };

const valueFields: Fields = { ok: "boolean", "value?": "any" };

const errorFields: Fields = { ok: "boolean", error: toolError };

const messageFields: Fields = { role: "string", parts: "parts" };

const priceFields: Fields = { model: "string", input: "number", output: "number", "cachedInput?": "number" };
const droppedFields: Fields = { message: "number", part: "number", turn: "number", tool: "string", tokens: "number" };

const partFields: Readonly<Record<string, Fields>> = {
  text: { text: "content string" },
  reasoning: { text: "content string" },
  file: fileFields,
  "tool-call": { id: "content string", name: "content string", args: "any", "invalidArgs?": "content string" },
  "server-call": { id: "content string", name: "content string", args: "any" },
  "server-result": { id: "content string", name: "content string", ok: "boolean", value: "any" },
  "tool-result": { id: "content string", name: "content string", result: "outcome" },
  source: { "url?": "content string", "title?": "content string" },
};

function isPart(part: unknown): boolean {
  if (!isRecord(part) || typeof part["type"] !== "string") return false;
  const fields = Object.hasOwn(partFields, part["type"]) ? partFields[part["type"]] : undefined;
  return fields !== undefined && findDamage(part, fields) === undefined;
}

/** Stands for a long text, which is kept in a blob. */
function isReference(member: unknown): boolean {
  return isRecord(member) && (typeof member["$blob"] === "string" || typeof member["$private"] === "string");
}
