import type { FirstRequest } from "../../protocol/first-request.ts";
import type { Outline } from "../../protocol/outline.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { modelLabel } from "../text/model-label.ts";
import { cutText, wrapWords } from "../text/wrap-text.ts";
import { list, show } from "./phrases.ts";
import { renderCeiling } from "./render-explanation.ts";

/** Renders the first request part by part, then the ceiling. Wrapped; all texts are escaped. */
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
        ...(request.unconnected
          ? wrapWords(
              `tools that are known when their toolset connects, which a dry run does not do: ${list(request.unconnected)}`,
              columns,
            )
          : []),
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

function describeAttachment({ name, mediaType, bytes }: { name: string; mediaType: string; bytes: number }): string {
  return `${show(name)} (${show(mediaType)}, ${formatCount(bytes)} bytes)`;
}

function part(title: string, text: string, columns: number): string[] {
  return [`${title}:`, ...frame(text, columns)];
}

/** Puts a margin before every line, so that no text can pass for another part. */
function frame(text: string, columns: number): string[] {
  return escapeText(text, { keepNewlines: true, keepBackslashes: true })
    .split("\n")
    .flatMap((line) =>
      cutText(line, Math.max(20, columns - 4)).map((piece, row) => `  ${row === 0 ? "|" : ":"} ${piece}`.trimEnd()),
    );
}
