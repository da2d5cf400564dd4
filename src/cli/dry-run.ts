import { basename } from "node:path";
import { createNodeHost } from "../host/node-host.ts";
import type { Program, RunRequest } from "../llm-do.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import type { ToolDefinition } from "../protocol/tool.ts";
import { buildEntryInput } from "../runtime/entry-input.ts";
import { RunError } from "../runtime/run-error.ts";
import { attachmentPaths, checkAttachments, toFilePart } from "../toolsets/attachments.ts";
import { toolName } from "../toolsets/tool-name.ts";
import type { FirstRequest } from "../ui/explain/render-first-request.ts";
import { errorMessage } from "../util/error-message.ts";
import { environmentSecrets, Redactor } from "../util/redactor.ts";
import { inputSchemaOf } from "./run-input.ts";

type EntryWorker = Extract<Program["entry"], { kind: "worker" }>["worker"];

/** What a run would give its entry first. Calls no model, opens no scope, and writes nothing. Rejects as the run would. */
export async function createFirstRequest(program: Program, request: RunRequest): Promise<FirstRequest> {
  const { entry } = program;
  const files = await readFiles(request);
  const given = request.input ?? program.args;
  const parts = typeof given === "string" ? { prompt: given } : { input: given };
  const input = buildEntryInput(inputSchemaOf(program), { ...parts, files });
  const schema = entry.kind === "worker" ? entry.worker.input : entry.code.input;
  const valid = schema ? await validateInput(schema, input) : input;
  const name = entry.kind === "worker" ? entry.worker.name : entry.code.name;
  const first: FirstRequest = { entry: name, input: valid };
  const redactor = new Redactor([...environmentSecrets(process.env), ...program.secrets]);
  return redactor.json(
    entry.kind === "code" ? first : { ...first, request: buildRequest(entry.worker, { input: valid, files }) },
  );
}

async function readFiles({ attachments = [] }: RunRequest): Promise<FilePart[]> {
  const files: FilePart[] = [];
  const host = createNodeHost();
  for (const one of attachments) {
    files.push(
      "path" in one
        ? await toFilePart(basename(one.path), await host.files.readBytes(one.path))
        : await toFilePart(one.name, one.bytes),
    );
  }
  return files;
}

async function validateInput(schema: EntryWorker["input"], input: JsonObject): Promise<JsonObject> {
  const checked = await schema.validate(input);
  if (checked.ok) return checked.value as JsonObject;
  const issues = checked.issues.map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  throw new RunError("input_invalid", `the input does not fit the entry: ${issues.join("; ")}`);
}

interface RequestParts {
  readonly input: JsonObject;
  readonly files: readonly FilePart[];
}

function buildRequest(worker: EntryWorker, { input, files }: RequestParts): NonNullable<FirstRequest["request"]> {
  const { model, modelSettings, output, attachmentPolicy, serverTools } = worker;
  const { system, user, userFragments } = render(worker, input);
  if (files.length > 0) checkFiles(files, attachmentPolicy);
  const named = files.length > 0 ? [] : attachmentPaths(worker.input.jsonSchema, input);
  return {
    model: model?.id ?? "none",
    modelSource: model?.source ?? "none",
    system,
    user: [user, ...userFragments],
    attachments: [...files.map(({ name, mediaType, bytes }) => ({ name, mediaType, bytes })), ...named.map((name) => ({ name }))],
    tools: toolsOf(worker),
    ...(serverTools.length > 0 ? { serverTools } : {}),
    ...(output ? { output: output.jsonSchema } : {}),
    settings: { ...modelSettings } as JsonObject,
  };
}

function render(worker: EntryWorker, input: JsonObject): ReturnType<EntryWorker["render"]> {
  try {
    return worker.render(input);
  } catch (thrown) {
    throw new RunError("input_invalid", `the prompt of ${worker.name} cannot be made of this input: ${errorMessage(thrown)}`);
  }
}

function checkFiles(files: readonly FilePart[], policy: EntryWorker["attachmentPolicy"]): void {
  try {
    checkAttachments(files, policy);
  } catch (thrown) {
    throw new RunError("input_invalid", errorMessage(thrown), { cause: thrown });
  }
}

/** As the gate tells them to the model. */
function toolsOf({ toolsets }: EntryWorker): ToolDefinition[] {
  return toolsets.flatMap(({ tools, prefix }) =>
    tools.map(({ name, description, input }) => ({
      name: toolName(prefix, name),
      description,
      inputSchema: input.jsonSchema,
    })),
  );
}
