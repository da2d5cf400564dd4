import { clipText } from "../util/clip-text.ts";
import { list, mapOf, type NamedValue, type RecordOf, record } from "./collection-shapes.ts";
import { boolean, checkName, integer, oneOf, text, writtenText } from "./scalar-shapes.ts";
import { type ReadContext, refined, type Shape } from "./shape.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import { serverAddress } from "./text-shapes.ts";

const fields = {
  type: {
    shape: oneOf(["openai-compatible"]),
    required: true,
    description: "What it speaks: `openai-compatible` is OpenAI's chat completions.",
  },
  base_url: {
    shape: serverAddress,
    required: true,
    description: "Where it is, such as `http://localhost:8000/v1`. `${NAME}` is a variable of the environment.",
  },
  api_key: { shape: text(), description: "Its key, as `${NAME}`: a variable of the environment. Without one none is sent." },
} as const;

export type ProviderSyntax = RecordOf<typeof fields>;

/** `providers`: servers of models, by the name that stands before the colon of a model's id. */
export const providersShape: Shape<readonly NamedValue<ProviderSyntax>[]> = mapOf(
  record(fields, { note: "write `{ type: openai-compatible, base_url: … }`" }),
  { checkName: checkProviderName, note: "write `mine: { type: openai-compatible, base_url: … }`" },
);

/** The part of a model's id before the colon is read in lower case. */
function checkProviderName(value: string, node: Pick<SyntaxNode, "span">, context: ReadContext): boolean {
  if (/^[a-z][a-z0-9_-]{0,63}$/.test(value)) return true;
  const message = `\`${clipText(value, 80)}\` is not the name of a provider`;
  const note = "it is a lower-case letter, then lower-case letters, digits, `_` or `-`, 64 characters in all";
  context.report("invalid-name", { message, span: node.span, note });
  return false;
}

const texts = mapOf(writtenText());

const mcpFields = {
  command: { shape: text(), description: "The program that is the server, and speaks on stdin and stdout." },
  args: { shape: list(writtenText()), description: "Its arguments." },
  env: { shape: texts, description: "Variables of its environment; `${NAME}` is one of the user's." },
  cwd: { shape: text(), description: "The folder that it runs in, relative to the program's." },
  reads: { shape: list(text()), description: "Folders that it can read beside the program's, relative to that or absolute." },
  network: { shape: boolean(), default: false, description: "Whether it may use the network." },
  isolated: { shape: boolean(), default: true, description: "Whether it is isolated. If not, it has all of the user's rights." },
  seconds: { shape: integer({ min: 1 }), default: 60, description: "How long a call may take without a sign of progress." },
  url: {
    shape: text(),
    description: "In place of a program: the address of a server that speaks streamable HTTP.",
  },
  headers: { shape: texts, description: "Sent with each request to the address; `${NAME}` is a variable of the user's." },
  tools: { shape: list(text(), { nonEmpty: true }), description: "Only these of its tools, as patterns." },
} as const;

export type McpServerSyntax = RecordOf<typeof mcpFields>;

const server: Shape<McpServerSyntax> = refined(
  record(mcpFields, { note: "write `{ command: …, args: […] }` or `{ url: … }`" }),
  (value, node, context) => {
    if ((value.command === undefined) !== (value.url === undefined)) return value;
    const message = `\`${context.path}\` needs either \`command\` or \`url\``;
    const code = value.command === undefined ? "missing-key" : "invalid-value";
    return context.report(code, { message, span: node.span });
  },
);

/** `mcp_servers`, in the shape that is common to programs which start such servers. */
export const mcpServersShape: Shape<readonly NamedValue<McpServerSyntax>[]> = mapOf(server, {
  checkName,
  note: "write `gh: { command: gh-mcp }`",
});
