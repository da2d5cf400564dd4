import { getOrMake } from "../util/get-or-make.ts";
import { findShapes } from "../util/secrets/secret-shapes.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { lineSpan, positionAt } from "./position.ts";
import type { Source, Span } from "./source.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A source with its secrets masked. Offsets are those of the original. */
interface Masked {
  readonly source: Source;
  readonly secrets: readonly Range[];
}

const maskedSources = new WeakMap<Source, Masked>();

/** Values are recognised by the name before them: `api_key: …`, `"Authorization": "Bearer …"`, `NPM_TOKEN=…`. */
const namedValue =
  /(?<![\p{L}\p{N}])["']?(?<name>[\w-]*?(?:key|token|secret|password|passwd|credential|authorization))s?["']?\s*[:=]\s*(?:[|>][-+]?\s+)?["'`]?(?:(?:bearer|basic|token)\s+)?(?<value>[^\s"'`,{}[\]$<⟦][^\s"'`,{}[\]]{7,})/dgiu;
/** The password of an address. */
const addressPassword = /:\/\/[^\s/:@"']*:(?<value>[^\s/:@"'${}]{4,})@/dg;
/** A run of letters and digits which no word or name of a model has. */
const opaqueRun = /(?<![\p{L}\p{N}])(?<value>[A-Za-z0-9]{20,})(?![\p{L}\p{N}])/dgu;

const note =
  "this line holds a secret, which is not shown here; keep the key of a provider with `llm-do keys set PROVIDER`, any other in a variable of the environment";

/**
 * Replaces secrets by asterisks, in the message, the notes and the texts that frames quote: the output of a check ends up in logs and
 * issues. Keeps all offsets. A diagnostic whose line holds a secret gets a note that says where keys belong.
 */
export function hideSecrets(diagnostic: Diagnostic): Diagnostic {
  const spans = [diagnostic.span, ...diagnostic.notes.map(({ span }) => span)].filter((span) => span !== undefined);
  const hide = (text: string) => spans.reduce((hidden, { source }) => hideValues(hidden, source), maskCredentials(text));
  const notes = diagnostic.notes.map(({ message, span }) => ({ message: hide(message), ...place(span) }));
  const isExplained = !spans.some(lineHoldsSecret) || notes.some(({ message }) => message.includes("llm-do keys set"));
  return {
    ...diagnostic,
    message: hide(diagnostic.message),
    ...place(diagnostic.span),
    notes: isExplained ? notes : [...notes, { message: note }],
  };
}

function place(span: Span | undefined): { span?: Span } {
  return span ? { span: { ...span, source: mask(span.source).source } } : {};
}

function mask(source: Source): Masked {
  return getOrMake(maskedSources, source, () => {
    const secrets = findSecrets(source.text);
    return { secrets, source: secrets.length === 0 ? source : { ...source, text: coverRanges(source.text, secrets) } };
  });
}

function findSecrets(text: string): readonly Range[] {
  const named = [...text.matchAll(namedValue)].filter(({ groups }) => isSecretValue(groups)).map(valueRange);
  const opaque = [...text.matchAll(opaqueRun)].filter(([run]) => isOpaque(run)).map(valueRange);
  return [...findEvident(text), ...named, ...opaque].sort((a, b) => a.start - b.start);
}

/** Replaces what has the form of a credential, for texts that quote a user's words. */
export function maskCredentials(text: string): string {
  return coverRanges(text, findEvident(text));
}

/** Secrets that need no name before them. */
function findEvident(text: string): readonly Range[] {
  const shapes = [...findShapes(text)].map(({ index, end }) => ({ start: index, end }));
  return [...shapes, ...[...text.matchAll(addressPassword)].map(valueRange)].sort((a, b) => a.start - b.start);
}

/** A password may be any word. The others are also names of what is no secret: `tokens: 100000`, `key: description`. */
function isSecretValue(groups: Readonly<Record<string, string>> | undefined): boolean {
  const { name = "", value = "" } = groups ?? {};
  if (/[()]/.test(value) || /^(?:process|import|Deno|os)\./.test(value)) return false;
  return /passw(?:or)?d$/i.test(name) || (/\d/.test(value) && /[A-Za-z]/.test(value));
}

/** Hexadecimal digits of at least 128 bits, or letters of both cases with digits at three places or many of them. */
function isOpaque(run: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(run)) return /\d/.test(run) && /[a-f]/i.test(run);
  const digits = run.match(/\d+/g) ?? [];
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && (digits.length >= 3 || (run.length >= 24 && digits.join("").length >= 6));
}

function valueRange({ indices }: RegExpExecArray): Range {
  const [start, end] = indices?.groups?.["value"] ?? [0, 0];
  return { start, end };
}

function coverRanges(text: string, ranges: readonly Range[]): string {
  let covered = "";
  for (const { start, end } of ranges) {
    if (end <= covered.length) continue;
    covered += text.slice(covered.length, start);
    covered += text.slice(covered.length, end).replace(/[^\r\n\t ]/g, "*");
  }
  return covered + text.slice(covered.length);
}

function lineHoldsSecret({ source, start }: Span): boolean {
  const line = lineSpan(source, positionAt(source, start).line);
  return mask(source).secrets.some((secret) => secret.start < line.end && secret.end > line.start);
}

/** Messages quote values, long ones cut: the first characters of a secret cover the rest of the word. */
function hideValues(message: string, source: Source): string {
  const values = mask(source).secrets.map(({ start, end }) => source.text.slice(start, end));
  return values.filter(({ length }) => length >= 8).reduce(hideValue, message);
}

function hideValue(message: string, value: string): string {
  const hidden = message.split(value.slice(0, 12)).join(cover).replace(coveredWord, cover);
  const cut = /(?<start>[^\s"'`]{3,11})…/.exec(hidden)?.groups?.["start"];
  return cut !== undefined && value.startsWith(cut) ? hidden.replace(`${cut}…`, `${cover}…`) : hidden;
}

const cover = "********";
const coveredWord = /\*{8}[^\s"'`*]+/g;
