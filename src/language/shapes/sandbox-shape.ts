import type { Spanned } from "../../diagnostics/source.ts";
import { list, mapOf, record } from "./collection-shapes.ts";
import { boolean, checkName, integer, oneOf, text } from "./scalar-shapes.ts";
import { refined, type Shape, type ShapeValue, unsupported } from "./shape.ts";
import { hostName, suffix } from "./text-shapes.ts";

const scope = record(
  {
    root: { shape: text(), required: true, description: "The folder, relative to this file; `~` is the user's home." },
    mode: { shape: oneOf(["ro", "rw"]), default: "ro", description: "Whether files can only be read, or also written." },
    suffixes: { shape: list(suffix, { nonEmpty: true }), description: "Only files that end so; without the key, any." },
    max_file_bytes: { shape: integer({ min: 1 }), description: "How large a file may be, read or written." },
    write_approval: { shape: boolean(), default: true, description: "Whether each write asks." },
    read_approval: { shape: boolean(), default: false, description: "Whether each read asks." },
  },
  { note: (folder = "./folder") => `write \`{ root: ${folder} }\`` },
);

type ScopeSyntax = ShapeValue<typeof scope> & { readonly name: Spanned<string> };

const scopesNote = "write a name for each folder: `{ input: { root: ./input } }`";

const scopes: Shape<readonly ScopeSyntax[]> = refined(mapOf(scope, { checkName, note: scopesNote }), (entries) =>
  entries.map(({ name, value }) => ({ name, ...value.value })),
);

const flag = boolean();
const hosts = list(hostName, { nonEmpty: true });

const network = unsupported<boolean | readonly string[]>(
  {
    jsonSchema: { anyOf: [flag.jsonSchema, hosts.jsonSchema] },
    read: (node, context) => (node.kind === "list" ? hosts.read(node, context) : flag.read(node, context)),
  },
  "a list of hosts cannot be enforced yet; write `true` for the whole network, or leave the key out for none",
  (value) => typeof value === "boolean",
);

/** `sandbox`: what the worker's tools and commands can reach. */
export const sandboxShape = record({
  paths: { shape: scopes, description: "Named folders; none if the map is empty." },
  network_enabled: {
    shape: network,
    default: false,
    description: "Whether shell commands reach the network. A list, for those hosts alone, is not accepted yet.",
  },
  required: {
    shape: flag,
    default: false,
    description: "Whether a run fails at its start where commands cannot be isolated.",
  },
});
