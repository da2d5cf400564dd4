import { isMap, isScalar, parseDocument } from "yaml";

/** A worker file whose settings cannot be edited as lines. */
export class UneditableWorker extends Error {}

/** Removes top-level settings of a worker file, and nothing else of its text. Settings that are not there are passed over. */
export function removeSettings(text: string, names: readonly string[]): string {
  const { start, end } = frontmatterOf(text);
  const yaml = text.slice(start, end);
  const places = namedPlaces(yaml).filter(({ name }) => names.includes(name));
  const kept = places.reduceRight((rest, { from, to }) => rest.slice(0, from) + rest.slice(to), yaml);
  return text.slice(0, start) + kept + text.slice(end);
}

/** Adds lines at the end of a worker file's settings, and changes nothing else of its text. */
export function addSettings(text: string, lines: readonly string[]): string {
  const { start, end } = frontmatterOf(text);
  if (text.slice(start, end).trim() !== "") namedPlaces(text.slice(start, end));
  const ending = text.slice(0, start).endsWith("\r\n") ? "\r\n" : "\n";
  return text.slice(0, end) + lines.map((line) => line + ending).join("") + text.slice(end);
}

/** Ends of the text between the fences. */
function frontmatterOf(text: string): { readonly start: number; readonly end: number } {
  const found = /^\uFEFF?(?:---[ \t]*\r?\n)([\s\S]*?)(?<=\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) throw new UneditableWorker("its settings do not stand between two lines `---`");
  const start = found[0].indexOf("\n") + 1;
  return { start, end: start + (found[1] ?? "").length };
}

/** From the key to the end of its last line. */
function namedPlaces(yaml: string): readonly { readonly name: string; readonly from: number; readonly to: number }[] {
  const { contents } = parseDocument(yaml, { keepSourceTokens: false, logLevel: "silent" });
  if (!isMap(contents) || contents.flow) throw new UneditableWorker("its settings are not written as one line for each key");
  const keys = contents.items.map(({ key }) => key).filter(isScalar);
  return contents.items.flatMap(({ key, value }) => {
    if (!isScalar(key) || !key.range) return [];
    const from = yaml.lastIndexOf("\n", key.range[0]) + 1;
    const valueEnd = (value as { readonly range?: readonly number[] } | null)?.range?.[1] ?? key.range[1];
    const lineEnd = yaml.indexOf("\n", Math.max(valueEnd - 1, key.range[0]));
    const next = keys.map((one) => one.range?.[0] ?? 0).filter((at) => at > (key.range?.[0] ?? 0));
    const to = Math.min(lineEnd < 0 ? yaml.length : lineEnd + 1, ...next);
    return [{ name: String(key.value), from, to }];
  });
}
