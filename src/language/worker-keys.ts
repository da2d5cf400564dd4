import { diagnose } from "../diagnostics/diagnose.ts";
import { clipText } from "../util/clip-text.ts";
import { type Fields, list, mapOf, record } from "./collection-shapes.ts";
import { json } from "./json-shape.ts";
import { boolean, checkName, identifier, integer, oneOf, text, writtenText } from "./scalar-shapes.ts";
import { inputShape, outputShape } from "./schema-shape.ts";
import { refined, type Shape, spanned } from "./shape.ts";
import { suffix } from "./suffix-shape.ts";
import { toolsetsShape } from "./toolsets-shape.ts";
import type { ScopeSyntax } from "./worker-file.ts";

const suffixes = list(suffix(), { nonEmpty: true });

const mediaType = refined(text(), (value, node, place) => {
  const written = value.trim().toLowerCase();
  if (/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)$/.test(written)) return written;
  const message = `\`${clipText(value, 40)}\` is not a media type`;
  place.report(
    diagnose("invalid-value", { message, span: node.span, notes: [{ message: "one is `application/pdf` or `image/*`" }] }),
  );
  return undefined;
});

const attachmentPolicy = record({
  max_attachments: { shape: integer({ min: 0 }), default: 4, description: "How many attachments one call takes." },
  max_total_bytes: {
    shape: integer({ min: 1 }),
    default: 10_000_000,
    description: "How large the attachments of one call are together.",
  },
  allowed_suffixes: { shape: suffixes, description: "Only files that end so; without the key, any." },
  denied_suffixes: { shape: list(suffix()), description: "No files that end so." },
  media_types: {
    shape: list(mediaType, { nonEmpty: true }),
    description: "Only content of these types, such as `image/*`; without the key, any.",
  },
});

const scope = record(
  {
    root: { shape: text(), required: true, description: "The folder, relative to this file; `~` is the user's home." },
    mode: { shape: oneOf("ro", "rw"), default: "ro", description: "Whether files can only be read, or also written." },
    suffixes: { shape: suffixes, description: "Only files that end so; without the key, any." },
    max_file_bytes: { shape: integer({ min: 1 }), description: "How large a file may be, read or written." },
    write_approval: { shape: boolean(), default: true, description: "Whether each write asks." },
    read_approval: { shape: boolean(), default: false, description: "Whether each read asks." },
  },
  { note: "write `{ root: ./folder }`" },
);

const scopes: Shape<readonly ScopeSyntax[]> = refined(mapOf(scope, { checkName }), (entries) =>
  entries.map(({ name, value }) => ({ name, ...value.value })),
);

const limits = record({
  depth: { shape: integer({ min: 0 }), description: "Deepest call of workers by workers; the entry is 0." },
  turns: { shape: integer({ min: 1 }), description: "Model responses in one call." },
  tool_calls: { shape: integer({ min: 1 }), description: "Calls of tools, those of called workers included." },
  tokens: { shape: integer({ min: 1 }), description: "Input and output tokens together, those of called workers included." },
  seconds: { shape: integer({ min: 1 }), description: "Time, that of called workers included." },
  parallel: { shape: integer({ min: 1 }), description: "Model requests and tools in flight at the same time." },
});

/** The table of what a worker file may say. The parser, the JSON Schema for editors and the printer all follow it. */
export const workerKeys = {
  name: { shape: identifier(), description: "The worker's name, by which others call it. By default the file's name." },
  description: { shape: text({ prose: true }), description: "What the worker does, for whoever may call it." },
  model: { shape: text(), description: "The model it runs on, as `provider:name`." },
  compatible_models: {
    shape: list(spanned(text()), { nonEmpty: true }),
    description: "Which models it may run on, as patterns of `provider:name`.",
  },
  input: { shape: inputShape, description: "What a caller passes: fields in the short notation, or JSON Schema 2020-12." },
  output: {
    shape: outputShape,
    description: "What comes back: fields in the short notation, a type, or JSON Schema 2020-12. By default text.",
  },
  attachment_policy: { shape: attachmentPolicy, description: "Which files may be attached to a call." },
  sandbox: {
    shape: record({ paths: { shape: scopes, description: "Named folders; none if the map is empty." } }),
    description: "Which files the worker's tools can reach.",
  },
  toolsets: { shape: toolsetsShape, description: "The tools it has: a map from each toolset to its configuration." },
  limits: { shape: limits, description: "How much it may spend." },
} satisfies Fields;

/** Carried, not interpreted; so is every key that begins with `x-`. */
export const extraKeys = {
  version: { shape: writtenText(), description: "The worker's version." },
  license: { shape: json(), description: "The license of the file." },
  metadata: { shape: json(), description: "Whatever others want to know of the file." },
} satisfies Fields;
