import type { Spanned } from "../diagnostics/source.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { partOf } from "./part-of.ts";
import type { ReadContext } from "./shape.ts";
import type { MapEntry } from "./syntax-node.ts";

/** The left side of a field: `red_flags?(array, at most three)`. */
export interface FieldKey {
  /** Empty for the wildcard `(*)`. */
  readonly name: Spanned<string>;
  readonly optional: boolean;
  readonly kind?: "array" | "object" | "enum" | "*";
  readonly description?: string;
}

const kinds = ["array", "object", "enum"] as const;
const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const forms = "write `name`, `name?`, or `name(array, description)` with `array`, `object` or `enum`";

export function parseFieldKey({ key }: MapEntry, context: ReadContext): FieldKey | undefined {
  const [, name = "", question, inner] = /^([^?(]*)(\?)?(?:\((.*)\))?$/s.exec(key.value) ?? [];
  const trimmed = name.trim();
  const isWildcard = trimmed === "" && inner?.trim() === "*";
  if (!isWildcard && !namePattern.test(trimmed)) return refuseKey(key, context, explainKey(key.value));
  const spannedName = { value: trimmed, span: partOf(key.span, trimmed) };
  const found = { name: spannedName, optional: question !== undefined };
  if (inner === undefined) return found;
  const comma = inner.indexOf(",");
  const word = (comma === -1 ? inner : inner.slice(0, comma)).trim();
  const description = comma === -1 ? "" : inner.slice(comma + 1).trim();
  const kind = isWildcard ? "*" : kinds.find((known) => known === word);
  if (kind === undefined) return refuseKind(key, word, context);
  return { ...found, kind, ...(description !== "" && { description }) };
}

function explainKey(key: string): { message: string; note: string } {
  const shown = clipText(key, 80);
  const opened = key.includes("(") && !key.includes(")");
  const note = opened ? "between braces a comma ends a key: put the key in quotes, or write the fields without braces" : forms;
  if (/\)\s*\?$/.test(key))
    return {
      message: `\`${shown}\`: the \`?\` stands before the bracket`,
      note: `write \`${key.slice(0, Math.max(0, key.indexOf("(")))}?(…)\``,
    };
  if (opened || /[?()]/.test(key)) return { message: `\`${shown}\` is not a field`, note };
  return {
    message: `\`${shown}\` cannot name a field`,
    note: "a field's name is letters, digits, `_` and `-`, 64 characters at most",
  };
}

function refuseKind(key: Spanned<string>, word: string, context: ReadContext): undefined {
  const message = `\`${clipText(word, 40)}\` is not a kind of field`;
  return refuseKey(key, context, { message, note: didYouMean(word, kinds) ?? forms });
}

function refuseKey(key: Spanned<string>, context: ReadContext, reason: { message: string; note: string }): undefined {
  return context.report("schema-notation", { message: reason.message, span: key.span, note: reason.note });
}
