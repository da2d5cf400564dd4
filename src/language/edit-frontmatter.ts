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

/**
 * Lets a key under `toolsets` name a worker in place of a tool, with an approval of its own where it needs one and has none, and changes
 * nothing else of the text. Throws an `UneditableWorker` if it would have to.
 */
export function referToWorker(
  text: string,
  { written, name, preApproved }: { readonly written: string; readonly name: string; readonly preApproved: boolean },
): string {
  const { start, end } = frontmatterOf(text);
  const yaml = text.slice(start, end);
  const toolsets = parseDocument(yaml, { logLevel: "silent" }).get("toolsets");
  const pair = isMap(toolsets) ? toolsets.items.find(({ key }) => isScalar(key) && key.value === written) : undefined;
  const key = isScalar(pair?.key) ? pair.key : undefined;
  if (!pair || !key?.range) throw new UneditableWorker(`\`toolsets\` has no \`${written}\` of its own`);
  const [from, keyEnd] = key.range;
  const renamed = written === name ? yaml.slice(from, keyEnd) : name;
  const approval = `{ _approval_config: { ${name}: { pre_approved: true } } }`;
  const { value } = pair;
  const isEmpty = value === null || (isScalar(value) && value.value === null) || (isMap(value) && value.items.length === 0);
  const hasApproval = isMap(value) && isMap(value.get("_approval_config"));
  if (!isEmpty && !hasApproval && preApproved)
    throw new UneditableWorker(`write \`_approval_config: { ${name}: { pre_approved: true } }\` below \`${written}\` first`);
  const isWritten = isMap(value) || (isScalar(value) && Boolean(value.source));
  const colonEnd = keyEnd + (/^\s*:/.exec(yaml.slice(keyEnd))?.[0].length ?? 0);
  const valueEnd = isWritten ? (value.range?.[1] ?? colonEnd) : colonEnd;
  const changed = isEmpty && preApproved ? `${renamed}: ${approval}${yaml.slice(valueEnd)}` : renamed + yaml.slice(keyEnd);
  return text.slice(0, start) + yaml.slice(0, from) + changed + text.slice(end);
}
