import type { MapNode } from "../yaml/syntax-node.ts";
import { list, type RecordOf, readFields, recordSchema } from "./collection-shapes.ts";
import { refuseValue } from "./node-problems.ts";
import { integer, oneOf } from "./scalar-shapes.ts";
import type { ReadContext, Shape } from "./shape.ts";
import { hostName } from "./text-shapes.ts";

const domains = list(hostName, { nonEmpty: true });

const fields = {
  tool_type: {
    shape: oneOf(["web_search", "web_fetch", "code_execution", "image_generation"], {
      url_context: "pages are read by `web_fetch`",
      code_interpreter: "code is run by `code_execution`",
      web_search_preview: "the web is searched by `web_search`",
      google_search: "the web is searched by `web_search`",
    }),
    required: true,
    description: "Which tool of the provider.",
  },
  max_uses: { shape: integer({ min: 1 }), description: "How often the model may use it in one call." },
  allowed_domains: { shape: domains, description: "Only these hosts. Not together with `blocked_domains`." },
  blocked_domains: { shape: domains, description: "Any host but these." },
} as const;

type ServerToolSyntax = RecordOf<typeof fields>;

const note = "write `{ tool_type: web_search }`";

const serverTool: Shape<ServerToolSyntax> = {
  jsonSchema: {
    ...recordSchema(fields),
    not: { required: ["allowed_domains", "blocked_domains"] },
    if: { properties: { tool_type: { enum: ["code_execution", "image_generation"] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { max_uses: false, allowed_domains: false, blocked_domains: false } },
  },
  read(node, context) {
    if (node.kind === "scalar" && typeof node.value === "string") {
      return refuseValue(node, context, { wanted: "a map", note: `write \`{ tool_type: ${node.value} }\`` });
    }
    if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note });
    const tool = readFields(withoutApproval(node, context), fields, context);
    if (tool) reportDomains(tool, context);
    return tool;
  },
};

/** `server_side_tools`: what the provider itself executes. */
export const serverToolsShape = list(serverTool);

function withoutApproval(node: MapNode, context: ReadContext): MapNode {
  const isApproval = (key: string): boolean => key === "_approval_config";
  for (const { key } of node.entries.filter((entry) => isApproval(entry.key.value))) {
    const note = "delete `_approval_config`; `max_uses` and the lists of domains bound what the tool does";
    const message = "the calls of a server-side tool cannot be approved one by one: the provider makes them";
    context.report("server-tool-approval", { message, span: key.span, note });
  }
  return { ...node, entries: node.entries.filter((entry) => !isApproval(entry.key.value)) };
}

function reportDomains(tool: ServerToolSyntax, context: ReadContext): void {
  const { tool_type: type, max_uses, allowed_domains: allowed, blocked_domains: blocked } = tool;
  const reaches = type.value === "web_search" || type.value === "web_fetch";
  for (const [key, written] of Object.entries({ max_uses, allowed_domains: allowed, blocked_domains: blocked })) {
    if (reaches || written === undefined) continue;
    const message = `\`${type.value}\` has no \`${key}\`: only \`web_search\` and \`web_fetch\` have`;
    context.report("invalid-value", { message, span: written.span });
  }
  if (!reaches || !allowed || !blocked) return;
  const notes = [{ message: "`allowed_domains` is set here", span: allowed.span }, { message: "keep one of them" }];
  const message = "`blocked_domains` cannot stand beside `allowed_domains`";
  context.report("server-tool-domains", { message, span: blocked.span, notes });
}
