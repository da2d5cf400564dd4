import { isUtf8 } from "node:buffer";
import { extname } from "node:path";

/** The IANA media type of some content: by what it is, and for text by what its name says it is. */
export async function sniffMediaType(bytes: Uint8Array, name: string): Promise<string> {
  if (startsWith(bytes, "%PDF-")) return "application/pdf";
  // Text before signatures: "BMW builds cars" begins like a bitmap.
  if (isText(bytes)) return textTypes[extname(name).toLowerCase()] ?? "text/plain";
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  return found?.mime ?? "application/octet-stream";
}

export function isText(bytes: Uint8Array): boolean {
  return decodeText(bytes) !== undefined;
}

/** UTF-8 without NUL. What was cut off within its last character counts too. Undefined for anything else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  // A decoder of its own for each text takes ten times as long.
  if (isUtf8(bytes)) return wholeTexts.decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const wholeTexts = new TextDecoder();

function startsWith(bytes: Uint8Array, text: string): boolean {
  return [...text].every((character, index) => bytes[index] === character.charCodeAt(0));
}

const textTypes: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".html": "text/html",
  ".htm": "text/html",
  ".css": "text/css",
  ".csv": "text/csv",
  ".tsv": "text/tab-separated-values",
  ".ics": "text/calendar",
  ".vcf": "text/vcard",
  ".rtf": "application/rtf",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".ndjson": "application/x-ndjson",
  ".geojson": "application/geo+json",
  ".ipynb": "application/x-ipynb+json",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".toml": "application/toml",
  ".xml": "application/xml",
  ".svg": "image/svg+xml",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
};
