import type { JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import type { RecordReader } from "./stores/record-place.ts";

interface Bounds {
  /** The most bytes of one text. */
  readonly longest: number;
  /** The most bytes of all texts together. */
  readonly total: number;
  /** Called for a text that is cut or gone. Default: its place says so. */
  readonly onMissing?: (digest: string) => void;
}

/**
 * Puts texts that are kept beside a journal in the places of their references, for people: secrets stay tokens, long texts are cut, and
 * what cannot be read says so. Files are left out.
 */
export async function expandTexts(
  place: RecordReader,
  { entries, longest, total, onMissing }: Bounds & { readonly entries: readonly JournalEntry[] },
): Promise<readonly JournalEntry[]> {
  const sizes = new Map<string, number>();
  for (const entry of entries) collect(entry, sizes);
  const texts = new Map<string, string>();
  let left = total;
  for (const [digest, size] of sizes) {
    const bytes = Math.min(longest, left);
    const read = bytes > 0 ? await readStart(place, { digest, bytes, size }) : { text: `(${size} bytes, not shown)` };
    const { text, isWhole } = read;
    if (!isWhole) onMissing?.(digest);
    texts.set(digest, text);
    left -= text.length;
  }
  return entries.map((entry) => replace(entry, texts) as JournalEntry);
}

/** In bytes: of one text, and of all. */
const wholeBounds = { longest: 20_000_000, total: 100_000_000 };

/** A text of a record that cannot be read whole. */
export class TextGone extends Error {}

/** Puts texts in their places whole, up to 20 MB each and 100 MB in all. Rejects with a `TextGone` if one is gone or longer. */
export async function expandWhole(place: RecordReader, entries: readonly JournalEntry[]): Promise<readonly JournalEntry[]> {
  const onMissing = (digest: string): never => {
    throw new TextGone(`a text of the run is gone (blob ${digest})`);
  };
  return expandTexts(place, { ...wholeBounds, entries, onMissing });
}

async function readStart(
  place: RecordReader,
  { digest, bytes, size }: { readonly digest: string; readonly bytes: number; readonly size: number },
): Promise<{ readonly text: string; readonly isWhole?: true }> {
  try {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`there is no blob ${digest}`);
    const { start, bytes: whole } = await place.readStart("blobs", digest, bytes);
    // The last character may be cut through.
    const text = Buffer.from(start)
      .toString("utf8")
      .replace(/\uFFFD$/, "");
    return whole > bytes ? { text: `${text}\n(cut: ${whole} bytes in all)` } : { text, isWhole: true };
  } catch {
    return { text: `(${size} bytes, which are gone)` };
  }
}

function collect(value: unknown, sizes: Map<string, number>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, sizes);
  if (!isRecord(value)) return;
  if (typeof value["$blob"] === "string") sizes.set(value["$blob"], Number(value["bytes"]));
  else for (const [key, one] of Object.entries(value)) if (!isFileData(value, key)) collect(one, sizes);
}

function isFileData(value: Readonly<Record<string, unknown>>, key: string): boolean {
  return key === "data" && value["type"] === "file";
}

function replace(value: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => replace(one, texts));
  if (!isRecord(value)) return value;
  if (typeof value["$blob"] === "string") return texts.get(value["$blob"]);
  if (typeof value["$private"] === "string") return "(kept with the run's secrets)";
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, isFileData(value, key) ? "" : replace(one, texts)]));
}
