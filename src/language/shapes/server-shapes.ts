import type { JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { SyntaxNode } from "../yaml/syntax-node.ts";
import { list, mapOf, type NamedValue, type RecordOf, record } from "./collection-shapes.ts";
import { jsonMap } from "./json-shape.ts";
import { boolean, checkName, integer, oneOf, text, writtenText } from "./scalar-shapes.ts";
import { type ReadContext, refined, type Shape } from "./shape.ts";
import { serverAddress } from "./text-shapes.ts";

const exportName = refined(text(), (value, node, { path, report }) => {
  if (/^[A-Za-z_$][\w$]*$/.test(value)) return value;
  return report("invalid-value", {
    message: `\`${path}\` has to be the name of an export, such as \`createMistral\``,
    span: node.span,
  });
});

/** Settings that have a key of their own, where it is known which of them is a key and which an address. */
const ownSettings: Readonly<Record<string, string>> = { apiKey: "api_key", baseURL: "base_url", fetch: "base_url" };

const optionsShape: Shape<JsonObject> = refined(jsonMap(), (value, node, { path, report }) => {
  const own = Object.keys(value).find((key) => Object.hasOwn(ownSettings, key));
  if (own === undefined) return value;
  const message = `\`${path}.${own}\` cannot be set here`;
  return report("invalid-value", { message, span: node.span, note: `write \`${ownSettings[own]}\` beside \`options\`` });
});

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

const packageFields = {
  package: {
    shape: text(),
    required: true,
    description:
      "An npm package of the program's that has models of the AI SDK, such as `@ai-sdk/mistral`. Its code runs with your rights.",
  },
  export: {
    shape: exportName,
    required: true,
    description: "The function of the package that creates its provider, such as `createMistral`.",
  },
  base_url: { shape: serverAddress, description: "Another address than that of the package. `${NAME}` is a variable." },
  api_key: { ...fields.api_key, description: "Its key, as `${NAME}`: a variable of the environment. The package gets no other." },
  options: {
    shape: optionsShape,
    description: "Further settings of the function. `${NAME}` in a text is a variable of the environment.",
  },
} as const;

export type ServerSyntax = RecordOf<typeof fields>;
export type ProviderPackageSyntax = RecordOf<typeof packageFields>;
export type ProviderSyntax = ServerSyntax | ProviderPackageSyntax;

const serverShape = record(fields, { note: "write `{ type: openai-compatible, base_url: … }`" });
const packageShape = record(packageFields);

const providerShape: Shape<ProviderSyntax> = {
  jsonSchema: { anyOf: [serverShape.jsonSchema, packageShape.jsonSchema] },
  read: (node, context) => (isPackage(node) ? packageShape : serverShape).read(node, context),
};

function isPackage(node: SyntaxNode): boolean {
  return node.kind === "map" && node.entries.some(({ key }) => key.value === "package" || key.value === "export");
}

/** `providers`: servers and packages of models, by the name that stands before the colon of a model's id. */
export const providersShape: Shape<readonly NamedValue<ProviderSyntax>[]> = mapOf(providerShape, {
  checkName: checkProviderName,
  note: "write `mine: { type: openai-compatible, base_url: … }`",
});

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
  login: { shape: boolean(), default: false, description: "Whether the user's login at the address is used." },
  tools: { shape: list(text(), { nonEmpty: true }), description: "Only these of its tools, as patterns." },
  defer: { shape: boolean(), description: "Whether the model searches for its tools. Default: if their definitions are long." },
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
