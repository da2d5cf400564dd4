import { list, mapOf, type NamedValue, type RecordOf, record } from "./collection-shapes.ts";
import { checkName, text, writtenText } from "./scalar-shapes.ts";
import { refined, type Shape } from "./shape.ts";
import { serverAddress } from "./text-shapes.ts";

const texts = mapOf(writtenText());

const fields = {
  command: { shape: text(), description: "The program that is the server, and speaks on stdin and stdout." },
  args: { shape: list(writtenText()), description: "Its arguments." },
  env: { shape: texts, description: "Variables of its environment; `${NAME}` is one of the user's." },
  cwd: { shape: text(), description: "The folder that it runs in, relative to the manifest." },
  url: { shape: serverAddress, description: "In place of a program: the address of a server that speaks streamable HTTP." },
  headers: { shape: texts, description: "Sent with each request to the address; `${NAME}` is a variable of the user's." },
  tools: { shape: list(text(), { nonEmpty: true }), description: "Only these of its tools, as patterns." },
} as const;

export type McpServerSyntax = RecordOf<typeof fields>;

const server: Shape<McpServerSyntax> = refined(
  record(fields, { note: "write `{ command: …, args: […] }` or `{ url: … }`" }),
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
