import { checkShape, codeShape } from "./shapes/code-shape.ts";
import { type Fields, list, record } from "./shapes/collection-shapes.ts";
import { json } from "./shapes/json-shape.ts";
import { modelSettingsShape } from "./shapes/model-settings-shape.ts";
import { sandboxShape } from "./shapes/sandbox-shape.ts";
import { boolean, identifier, integer, number, oneOf, text, writtenText } from "./shapes/scalar-shapes.ts";
import { inputShape, outputShape } from "./shapes/schema-shape.ts";
import { serverToolsShape } from "./shapes/server-tools-shape.ts";
import { spanned } from "./shapes/shape.ts";
import { mediaType, pathOrProfile, programPath, suffix } from "./shapes/text-shapes.ts";
import { toolsetsShape } from "./shapes/toolsets-shape.ts";

const suffixes = list(suffix, { nonEmpty: true });

export const attachmentPolicyShape = record({
  max_attachments: { shape: integer({ min: 0 }), default: 4, description: "How many attachments one call takes." },
  max_total_bytes: {
    shape: integer({ min: 1 }),
    default: 10_000_000,
    description: "How large the attachments of one call are together.",
  },
  allowed_suffixes: { shape: suffixes, description: "Only files that end so; without the key, any." },
  denied_suffixes: { shape: list(suffix), description: "No files that end so." },
  media_types: {
    shape: list(mediaType, { nonEmpty: true }),
    description: "Only content of these types, such as `image/*`; without the key, any.",
  },
});

export const limitsShape = record({
  depth: { shape: integer({ min: 0 }), description: "Deepest call of workers by workers; the entry is 0." },
  turns: { shape: integer({ min: 1 }), description: "Model responses in one call." },
  tool_calls: { shape: integer({ min: 1 }), description: "Calls of tools, those of called workers included." },
  tokens: { shape: integer({ min: 1 }), description: "Input and output tokens together, those of called workers included." },
  usd: {
    shape: number({ min: 0, exclusive: true }),
    description: "Dollars, those of called workers included; the model's price has to be known.",
  },
  seconds: { shape: integer({ min: 1 }), description: "Time, that of called workers included." },
  parallel: { shape: integer({ min: 1 }), description: "Model requests and tools in flight at the same time." },
});

export const contextShape = record({
  max_result: {
    shape: integer({ min: 1000 }),
    default: 60_000,
    description: "Characters of one tool result that the model gets at once; it reads on with `read_result`.",
  },
  window: {
    shape: integer({ min: 1000 }),
    description: "Tokens that a request and its answer can have together; by default as the model's listed window.",
  },
  agents: {
    shape: boolean(),
    default: false,
    description: "Whether `AGENTS.md` of the program's folder is sent with the instructions.",
  },
});

const authShape = oneOf(["off", "auto", "required"]);

/** The table of what a worker file may say. The parser, the JSON Schema for editors and the printer all follow it. */
export const workerKeys = {
  name: { shape: identifier(), description: "The worker's name, by which others call it. By default the file's name." },
  description: { shape: text({ prose: true }), description: "What the worker does, for its callers." },
  model: { shape: text(), description: "The model it runs on, as `provider:name`." },
  compatible_models: {
    shape: list(spanned(text()), { nonEmpty: true }),
    description: "Which models it may run on, as patterns of `provider:name`.",
  },
  model_settings: { shape: modelSettingsShape, description: "What is asked of the model, whichever it is." },
  input: {
    shape: inputShape,
    description:
      "What a caller passes: fields in the short notation, JSON Schema 2020-12, or a schema in code (`./schemas.ts:Name`).",
  },
  output: {
    shape: outputShape,
    description:
      "What comes back: fields in the short notation, a type, JSON Schema 2020-12, or a schema in code. By default text.",
  },
  code: { shape: codeShape, description: "A function that answers before the prompt, which answers what it leaves." },
  check: {
    shape: checkShape,
    description: "The share of the code's answers that the prompt answers, too, to be compared. They are never used.",
  },
  prompt: { shape: text(), description: "Template of the first user message. By default made of the input." },
  fragments: { shape: list(spanned(programPath)), description: "Files whose text is sent beside the prompt, each as a part." },
  system_fragments: {
    shape: list(spanned(programPath)),
    description: "Files whose text is sent beside the instructions, each as a part.",
  },
  attachment_policy: { shape: attachmentPolicyShape, description: "Which files may be attached to a call." },
  sandbox: { shape: sandboxShape, description: "What the worker's tools can reach." },
  toolsets: { shape: toolsetsShape, description: "The tools it has: a map from each toolset to its configuration." },
  server_side_tools: { shape: serverToolsShape, description: "Tools that the provider itself executes." },
  context: { shape: contextShape, description: "How much of a long conversation the model is sent." },
  limits: { shape: limitsShape, description: "How much it may spend." },
  extends: {
    shape: pathOrProfile,
    description: "A worker file, or a profile of the manifest, whose settings hold unless set here.",
  },
  locked: { shape: boolean(), default: false, description: "Whether nothing may overwrite this file." },
  auth: {
    shape: authShape,
    default: "off",
    description: "Whether the model is reached by the user's login instead of a key.",
  },
  debug: { shape: boolean(), default: false, description: "Whether its calls are shown in full detail." },
} satisfies Fields;

/** Carried, not interpreted; so is every key that begins with `x-`. */
export const extraKeys = {
  version: { shape: writtenText(), description: "The worker's version." },
  license: { shape: json(), description: "The license of the file." },
  metadata: { shape: json(), description: "Whatever others want to know of the file." },
} satisfies Fields;
