import type { JsonSchema } from "../../protocol/tool.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { SyntaxNode } from "../yaml/syntax-node.ts";
import { refuseValue, warnOfComment } from "./node-problems.ts";
import { type ReadContext, refined, type Shape } from "./shape.ts";

/** Any text but an empty one. In prose, even what looks like a comment may have been meant as text. */
export function text(options: { readonly prose?: boolean } = {}): Shape<string> {
  return {
    jsonSchema: { type: "string", minLength: 1 },
    read(node, context) {
      if (node.kind !== "scalar" || typeof node.value !== "string") {
        return refuseValue(node, context, { wanted: "a text", note: quoteNote(node) });
      }
      if (node.value.trim() === "") {
        const note = "write a value, or delete the key";
        return context.report("missing-value", { message: `\`${context.path}\` is empty`, span: node.span, note });
      }
      const [, inside] = options.prose
        ? []
        : (/^[\u201c\u201d\u201e\u2018\u2019](.*)[\u201c\u201d\u2018\u2019]$/.exec(node.value) ?? []);
      if (inside !== undefined && node.plain) {
        const message = `\`${context.path}\` is in typographic quotes, which are letters to YAML`;
        return context.report("invalid-value", { message, span: node.span, note: `write \`${JSON.stringify(inside)}\`` });
      }
      warnOfComment(node, { prose: options.prose ?? false, report: context.report });
      return node.value;
    },
  };
}

function quoteNote(node: SyntaxNode): string | undefined {
  return node.kind === "scalar" && node.value !== null ? `put it in quotes: \`${JSON.stringify(node.text)}\`` : undefined;
}

/** A text that may look like a number and is then kept as written, such as the version `1.10`. */
export function writtenText(): Shape<string> {
  const shape = text();
  return {
    jsonSchema: { type: ["string", "number"] },
    read(node, context) {
      if (node.kind === "scalar" && typeof node.value === "number") return node.text;
      return shape.read(node, context);
    },
  };
}

const namePattern = "^[A-Za-z][A-Za-z0-9_-]{0,63}$";

/** A name as models and paths can carry it. */
export function identifier(): Shape<string> {
  const names: Shape<string> = {
    jsonSchema: { type: "string", pattern: namePattern },
    read(node, context) {
      if (node.kind === "scalar" && typeof node.value === "string") return node.value;
      return refuseValue(node, context, { wanted: "a name", note: nameNote(node) });
    },
  };
  return refined(names, (value, node, context) => (checkName(value, node, context) ? value : undefined));
}

function nameNote(node: SyntaxNode): string | undefined {
  if (node.kind !== "scalar") return undefined;
  return new RegExp(namePattern).test(node.text) ? quoteNote(node) : "a name begins with a letter, such as `w3000`";
}

/** Reports a text that is not a name, and returns false for it. */
export function checkName(value: string, node: Pick<SyntaxNode, "span">, context: ReadContext): boolean {
  if (new RegExp(namePattern).test(value)) return true;
  const message = `\`${clipText(value, 80)}\` is not a name`;
  const note = "a name is a letter, then letters, digits, `_` or `-`, 64 characters in all";
  context.report("invalid-name", { message, span: node.span, note });
  return false;
}

export interface NumberRange {
  readonly min: number;
  readonly max?: number;
  /** `min` itself is too small. */
  readonly exclusive?: boolean;
}

/** A number without a fraction. */
export function integer({ min }: { readonly min: number }): Shape<number> {
  const wanted = min === 0 ? "a whole number, 0 or more" : `a whole number from ${min} on`;
  const isInRange = (value: number) => Number.isSafeInteger(value) && value >= min;
  return numeric({ type: "integer", minimum: min }, wanted, isInRange);
}

/** A number that may have a fraction. */
export function number({ min, max, exclusive = false }: NumberRange): Shape<number> {
  const wanted = max === undefined ? `a number ${exclusive ? "above" : "from"} ${min}` : `a number from ${min} to ${max}`;
  const bounds = { [exclusive ? "exclusiveMinimum" : "minimum"]: min, ...(max !== undefined && { maximum: max }) };
  const isInRange = (value: number) => (exclusive ? value > min : value >= min) && value <= (max ?? Number.MAX_VALUE);
  return numeric({ type: "number", ...bounds }, wanted, isInRange);
}

/** Percents stand where a share is wanted. */
function shareNote(value: number, { maximum }: JsonSchema): string | undefined {
  return maximum === 1 && value > 1 && value <= 100 ? `write \`${value / 100}\` for ${value} %` : undefined;
}

function numeric(jsonSchema: JsonSchema, wanted: string, isInRange: (value: number) => boolean): Shape<number> {
  return {
    jsonSchema,
    read(node, context) {
      if (node.kind !== "scalar" || typeof node.value !== "number") {
        return refuseValue(node, context, { wanted, note: digitsNote(node) });
      }
      if (isInRange(node.value)) return node.value;
      const message = `\`${context.path}\` has to be ${wanted}`;
      return context.report("invalid-value", { message, span: node.span, note: shareNote(node.value, jsonSchema) });
    },
  };
}

/** For a number in quotes, with separators or with a dollar sign. */
function digitsNote(node: SyntaxNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") return undefined;
  const digits = node.value
    .replace(/^\$ ?/, "")
    .replace(/[_' ]|,(?=\d{3}\b)/g, "")
    .replace(",", ".");
  const [, short, unit] = /^(\d{1,6}(?:\.\d)?)([km])$/i.exec(digits) ?? [];
  if (short !== undefined) return `write \`${Number(short) * (unit?.toLowerCase() === "k" ? 1000 : 1_000_000)}\``;
  return /^\d{1,15}(\.\d{1,15})?$/.test(digits) ? `write \`${Number(digits)}\`, without quotes and separators` : undefined;
}

const lookalikes: Readonly<Record<string, string>> = {
  yes: "true",
  on: "true",
  true: "true",
  no: "false",
  off: "false",
  false: "false",
};

export function boolean(): Shape<boolean> {
  return {
    jsonSchema: { type: "boolean" },
    read(node, context) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      const lookalike = node.kind === "scalar" ? lookalikes[node.text.toLowerCase()] : undefined;
      return refuseValue(node, context, {
        wanted: "`true` or `false`",
        note: lookalike && `write \`${lookalike}\`, without quotes`,
      });
    },
  };
}

/** One of a few words. `notes` are for other words that authors try. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  notes: Readonly<Record<string, string>> = {},
): Shape<Word> {
  const read: Shape<string>["read"] = (node, context) => {
    if (node.kind === "scalar" && typeof node.value === "string") return node.value;
    return refuseValue(node, context, { wanted: quoteNames(words, " or ") });
  };
  return refined({ jsonSchema: { enum: words }, read }, (value, node, { path, report }) => {
    const word = words.find((one) => one === value);
    if (word !== undefined) return word;
    const message = `\`${path}\` has to be ${quoteNames(words, " or ")}, not \`${clipText(value, 40)}\``;
    return report("invalid-value", { message, span: node.span, note: getOwn(notes, value) ?? didYouMean(value, words) });
  });
}
