import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";

export interface QuickFix {
  readonly title: string;
  readonly span: Span;
  readonly text: string;
}

/** Makes changes of the hints of a diagnostic, where they say exactly what to write in the place of what is marked. */
export function findQuickFixes({ span, notes }: Diagnostic): readonly QuickFix[] {
  if (!span) return [];
  return notes.flatMap(({ message, span: elsewhere }) => (elsewhere ? [] : fixesOf(message, span)));
}

function fixesOf(note: string, span: Span): QuickFix[] {
  const written = span.source.text.slice(span.start, span.end);
  if (note.startsWith("did you mean ")) {
    const [name] = /^[^\s:]+(?=:\s)|^[\s\S]+/.exec(written) ?? [""];
    const bare = name.replace(/^(["'])(.*)\1$/, "$2");
    const place = { ...span, start: span.start + name.indexOf(bare), end: span.start + name.indexOf(bare) + bare.length };
    const meant = [...(/^.*?\?(?=$| )/.exec(note)?.[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, one = ""]) =>
      one.replace(/: …$/, ""),
    );
    return meant
      .filter((one) => nearestNames(bare, [one]).length > 0)
      .map((text) => ({ title: `Write \`${text}\``, span: place, text }));
  }
  const [, exact] = exactNote.exec(note) ?? [];
  if (exact === undefined || exact.includes("…")) return [];
  if (note.startsWith("rename it")) return [{ title: `Rename it to \`${exact}\``, span, text: exact }];
  // Other notes show an example: they share no text with what is written.
  const [one, other] = [written, exact].map((text) => text.replace(/[^\p{L}\p{N}]/gu, ""));
  const isSame =
    one !== undefined && other !== undefined && one !== "" && other !== "" && (one.includes(other) || other.includes(one));
  return isSame ? [{ title: `Write \`${exact}\``, span, text: exact }] : [];
}

const exactNote =
  /^(?:write|rename it to|put it in quotes:|if .* is a glob, put it in quotes:|.*; write) `([^`]+)`(?:, without quotes(?: and separators)?| for the text(?:, or delete the key)?)?$/;
