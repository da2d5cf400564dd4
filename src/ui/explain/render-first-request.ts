import type { JsonObject } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import type { ServerTool, ToolDefinition } from "../../protocol/tool.ts";
import { escapeText } from "../../util/escape-text.ts";
import { modelLabel } from "../model-label.ts";
import { cutText, wrapWords } from "../wrap-text.ts";
import { count, list, show } from "./phrases.ts";
import { renderCeiling } from "./render-explanation.ts";

/** What an entry would be given first: by a worker's model, or, where the entry is code, by that code. */
export interface FirstRequest {
  readonly entry: string;
  readonly input: JsonObject;
  /** Absent for an entry that is code: it has no model. */
  readonly request?: {
    readonly model: string;
    readonly modelSource: string;
    readonly system: readonly string[];
    readonly user: readonly string[];
    readonly attachments: readonly FirstAttachment[];
    readonly tools: readonly ToolDefinition[];
    /** Executed by the provider, if they are approved when the run starts. */
    readonly serverTools?: readonly ServerTool[];
    readonly output?: JsonObject;
    readonly settings: JsonObject;
  };
}

/** Without facts: a file of the entry's own scopes, which is read when the run begins. */
export interface FirstAttachment {
  readonly name: string;
  readonly mediaType?: string;
  readonly bytes?: number;
}

/** The first request part by part, then the ceiling; wrapped, and with all texts escaped. */
export function renderFirstRequest({ entry, input, request }: FirstRequest, outline: Outline, columns: number): string {
  const asJson = (value: unknown) => frame(JSON.stringify(value, undefined, 2), columns);
  const lines = request
    ? [
        ...wrapWords(
          `Would be sent to ${show(modelLabel(request.model))} (by ${show(request.modelSource)}), for ${show(entry)}:`,
          columns,
        ),
        ...request.system.flatMap((text, index) => part(`system ${index + 1} of ${request.system.length}`, text, columns)),
        ...request.user.flatMap((text, index) => part(`user ${index + 1} of ${request.user.length}`, text, columns)),
        ...wrapWords(`attachments: ${request.attachments.map(describeAttachment).join(", ") || "none"}`, columns),
        ...wrapWords(`tools: ${list(request.tools.map(({ name }) => name)) || "none"}`, columns),
        ...(request.serverTools
          ? wrapWords(`tools of the provider, if approved: ${list(request.serverTools.map(({ type }) => type))}`, columns)
          : []),
        ...wrapWords(
          `settings: ${Object.keys(request.settings).length > 0 ? show(JSON.stringify(request.settings)) : "the provider's own"}`,
          columns,
        ),
        ...(request.output ? ["output, by this schema:", ...asJson(request.output)] : []),
      ]
    : [`${show(entry)} is code: it sends nothing itself, and is given this input:`, ...asJson(input)];
  return [...lines, ...renderCeiling(outline, columns)].map((line) => `${line}\n`).join("");
}

function describeAttachment({ name, mediaType, bytes }: FirstAttachment): string {
  if (mediaType === undefined || bytes === undefined) return `${show(name)} (of its scopes, read when it runs)`;
  return `${show(name)} (${show(mediaType)}, ${count(bytes)} bytes)`;
}

function part(title: string, text: string, columns: number): string[] {
  return [`${title}:`, ...frame(text, columns)];
}

/** Behind a margin on every line, so that no text can be taken for another part. */
function frame(text: string, columns: number): string[] {
  return escapeText(text, { keepNewlines: true, keepBackslashes: true })
    .split("\n")
    .flatMap((line) =>
      cutText(line, Math.max(20, columns - 4)).map((piece, row) => `  ${row === 0 ? "|" : ":"} ${piece}`.trimEnd()),
    );
}
