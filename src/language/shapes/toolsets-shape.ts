import type { Span, Spanned } from "../../diagnostics/source.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { ApprovalSyntax, ToolsetSyntax } from "../worker-file.ts";
import type { ListNode, MapEntry, SyntaxNode } from "../yaml/syntax-node.ts";
import { type Fields, mapOf, readFields, record, recordSchema } from "./collection-shapes.ts";
import { readJsonEntries } from "./json-shape.ts";
import { refuseValue } from "./node-problems.ts";
import { refusePythonReference } from "./old-spellings.ts";
import { boolean, checkName, identifier, text } from "./scalar-shapes.ts";
import { contextAt, type ReadContext, refined, type Shape } from "./shape.ts";

const approval = record(
  { pre_approved: { shape: boolean(), required: true, description: "Whether calls of the tool go ahead without a question." } },
  { note: "write `{ pre_approved: true }`" },
);

const approvals: Shape<readonly ApprovalSyntax[]> = refined(
  mapOf(approval, {
    note: "write `{ tool_name: { pre_approved: true } }`",
    checkName: (name, node, context) => name === "*" || checkName(name, node, context),
  }),
  (entries) => entries.map(({ name, value }) => ({ tool: name, preApproved: value.value.pre_approved })),
);

const reference = refined(text(), (value, node, context) =>
  refusePythonReference({ value, span: node.span }, context, "toolset") ? undefined : value,
);

/** The keys of a toolset's map that are ours; all others are the toolset's own configuration. */
const referenceKeys = {
  _approval_config: {
    shape: approvals,
    description: "Which tools of this toolset are pre-approved: names without prefix, or `*` for all.",
  },
  _prefix: {
    shape: identifier(),
    description: "Put before the names of this toolset's tools, so that two instances do not collide.",
  },
  _use: { shape: reference, description: "What this entry is an instance of; its key is then just the instance's name." },
} satisfies Fields;

const listNote = "write a map from each toolset to its configuration";

/** `toolsets`: a map from references to configuration, in the order written. */
export const toolsetsShape: Shape<readonly ToolsetSyntax[]> = {
  jsonSchema: { type: "object", additionalProperties: referenceSchema() },
  read(node, context) {
    if (node.kind === "list") return refuseList(node, context);
    if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: `${listNote}: \`{ filesystem: {} }\`` });
    return node.entries.map((entry) => readToolset(entry, context)).filter((toolset) => toolset !== undefined);
  },
};

function referenceSchema(): JsonObject {
  const { properties = {} } = recordSchema(referenceKeys);
  return { type: ["object", "null"], properties, patternProperties: { "^_(?!approval_config$|prefix$|use$)": false } };
}

function refuseList(node: ListNode, context: ReadContext): undefined {
  const names = node.items.map((item) => (item.kind === "scalar" && typeof item.value === "string" ? item.value : undefined));
  const shown = names.filter((name) => name !== undefined).slice(0, 5);
  const lines = (shown.length > 0 ? shown : ["filesystem"]).map((name) => `\n  ${clipText(name, 64)}: {}`);
  const note = `${listNote}:\ntoolsets:${lines.join("")}`;
  return context.report("toolsets-list", { message: "`toolsets` has to be a map, not a list", span: node.span, note });
}

function readToolset({ key, value: node }: MapEntry, toolsets: ReadContext): ToolsetSyntax | undefined {
  const context = contextAt(toolsets, key.value);
  if (key.value.trim() === "") {
    return context.report("invalid-name", { message: "a toolset without a name", span: key.span });
  }
  if (refusePythonReference(key, context, "toolset")) return undefined;
  const entries = entriesOf(node, context);
  if (entries === undefined) return undefined;
  const ours = entries.filter((entry) => entry.key.value.startsWith("_"));
  const read = readFields({ kind: "map", span: node.span, entries: ours }, referenceKeys, context);
  const spans = new Map<string, Span>();
  const config = readJsonEntries(
    entries.filter((entry) => !entry.key.value.startsWith("_")),
    { context, spans },
  );
  return toToolset(key, { value: config, span: node.span }, { spans, read });
}

/** Nothing stands for a configuration without keys. */
function entriesOf(node: SyntaxNode, context: ReadContext): readonly MapEntry[] | undefined {
  if (node.kind === "map") return node.entries;
  if (node.kind === "scalar" && node.value === null) return [];
  return refuseValue(node, context, { wanted: "a map of configuration", note: noteOnConfig(node, context) });
}

/** A text is what the entry is an instance of; of `mcp`, a server. */
function noteOnConfig(node: SyntaxNode, { path }: ReadContext): string {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const text =
    node.kind === "scalar" && typeof node.value === "string" && /^[\w@./:-]+$/.test(node.value) ? node.value : undefined;
  if (name === "mcp" && text !== undefined) return `write \`mcp: { servers: [${clipText(text, 64)}] }\``;
  if (name === "mcp" && node.kind === "list") return "write `mcp: { servers: [NAME] }`";
  if (text !== undefined)
    return `write \`${clipText(name, 64)}: { _use: ${clipText(text, 64)} }\`; a toolset without configuration gets \`{}\``;
  return "a toolset without configuration gets `{}`";
}

function toToolset(
  reference: Spanned<string>,
  config: Spanned<JsonObject>,
  rest: { spans: ReadonlyMap<string, Span>; read: ReturnType<typeof readFields<typeof referenceKeys>> },
): ToolsetSyntax {
  const { _approval_config: approvals, _prefix: prefix, _use: use } = rest.read ?? {};
  return {
    reference,
    config,
    configSpans: rest.spans,
    ...(approvals && { approvals }),
    ...(prefix && { prefix }),
    ...(use && { use }),
  };
}
