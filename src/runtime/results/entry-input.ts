import type { Program } from "../../program/program.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { FilePart } from "../../protocol/message.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { attachmentField, checkAttachmentSizes, type FileSize } from "../../toolsets/attachments.ts";
import { ToolFailure } from "../../toolsets/toolset.ts";
import { promptField } from "../../toolsets/workers/prompt-field.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { RunError } from "../run-error.ts";

export interface EntryInput {
  /** Fields, as the caller names them. */
  readonly input?: JsonObject | undefined;
  /** A text without a field's name: it fills `input`, or else the only required string. */
  readonly prompt?: string | undefined;
  readonly files: readonly Pick<FilePart, "name">[];
}

/** The schema of an entry's input; one text where it declares none. */
export function inputSchemaOf({ entry }: Program): JsonSchema {
  const schema = entry.kind === "worker" ? entry.worker.input : entry.code.input;
  return schema?.jsonSchema ?? { type: "object", properties: { input: { type: "string" } } };
}

/** Makes the entry's input object from what a person or a program gave. Throws a `RunError` that lists the fields. */
export function buildEntryInput(schema: JsonSchema, { input = {}, prompt, files }: EntryInput): JsonObject {
  const withPrompt = prompt === undefined ? input : { ...input, [fieldOfPrompt(schema)]: prompt };
  if (files.length === 0) return withPrompt;
  const field = attachmentField(schema);
  if (!field) throw new RunError("input_invalid", "this entry takes no attachments: its input has no field of type `attachment`");
  const names = files.map(({ name }) => name);
  if (!field.many && names.length > 1)
    throw new RunError("input_invalid", `the field \`${field.name}\` takes one attachment, and ${names.length} were given`);
  return { ...withPrompt, [field.name]: field.many ? names : (names[0] ?? "") };
}

/** Checks the files of a request before they are read. Throws a `RunError`. Code takes any files. */
export function checkEntryFiles({ entry }: Program, files: readonly FileSize[]): void {
  if (entry.kind !== "worker") return;
  try {
    checkAttachmentSizes(files, entry.worker.attachmentPolicy);
  } catch (thrown) {
    throw refusedInput(thrown);
  }
}

/** The reason why the entry does not take its input, with the advice of a check that tools share. */
export function refusedInput(thrown: unknown, callPath?: CallPath): RunError {
  const hint = thrown instanceof ToolFailure ? thrown.toolError.hint : undefined;
  const message = `${errorMessage(thrown)}${hint === undefined ? "" : `; ${hint}`}`;
  return new RunError("input_invalid", message, { cause: thrown, ...(callPath === undefined ? {} : { callPath }) });
}

function fieldOfPrompt(schema: JsonSchema): string {
  const { field, fields } = promptField(schema);
  if (field !== undefined) return field;
  const known = fields.map((name) => `\`${name}\``).join(", ") || "none";
  throw new RunError(
    "input_invalid",
    `a prompt fills the field \`input\` or the only required string, and this entry has neither; its fields: ${known}`,
  );
}
