import type { Fact } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { holdsLongText } from "../util/json/plain-json.ts";
import { type RecordedSecret, type Redactor, restoreSecrets } from "../util/secrets/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { longText } from "../util/text/long-texts.ts";
import { type Fields, factFields } from "./fact-fields.ts";
import type { RunSecrets } from "./run-secrets.ts";

/** A value kept beside the journal under its digest. */
export interface Blob {
  readonly digest: string;
  readonly content: string | Uint8Array;
}

/** The content of a file that holds a secret, or that a run replaced: kept under its digest with the run's key. */
export interface PrivateBlob {
  readonly name: string;
  readonly content: Uint8Array;
}

/** A fact as a journal holds it, and the blobs that it refers to. */
export interface RecordedFact {
  readonly value: Readonly<Record<string, unknown>>;
  readonly blobs: readonly Blob[];
  readonly secrets: readonly RecordedSecret[];
  readonly privateBlobs: readonly PrivateBlob[];
}

/** References to the files that a journal holds, by their parts, with what they are of: a part of a tool can change. */
export type KnownFiles = WeakMap<object, { readonly data: string; readonly sha256: string; readonly reference: object }>;

interface RecordOptions {
  readonly redactor: Redactor;
  readonly secrets: RunSecrets;
  /** Files of earlier facts of the journal, which this one refers to; those of this fact are added. */
  readonly files: KnownFiles;
}

/** Replaces secrets by tokens, and long strings and the content of file parts by references. The fact is not changed. */
export function externalize(fact: Fact, options: RecordOptions): RecordedFact {
  const writer = new FactWriter(options);
  return { value: writer.fields(fact, factFields[fact.type]), ...writer.kept };
}

/**
 * Returns a fact as JSON where that is the form in which a journal holds it: nothing in it is secret, long, a file, or looks like a token
 * or a reference. Most facts are so; one pass and one scan find it out. Undefined if `externalize` is needed.
 */
export function toPlainText(fact: Fact, redactor: Redactor): string | undefined {
  if ((fact.type === "run-start" || fact.type === "call-start") && fact.input.files.length > 0) return undefined;
  if (holdsLongText(fact, longText)) return undefined;
  const text = JSON.stringify(fact);
  if (reference.test(text)) return undefined;
  return redactor.isPlain(text) ? text : undefined;
}

/** Matches the beginning of a reference, and a file. Looks for their rarer characters first, which is faster than for the quote. */
const reference = /\$(?<="\$)|file"(?<="type":"file")/;

class FactWriter {
  readonly kept = { blobs: [] as Blob[], secrets: [] as RecordedSecret[], privateBlobs: [] as PrivateBlob[] };
  readonly #redactor: Redactor;
  readonly #secrets: RunSecrets;
  readonly #files: KnownFiles;

  constructor({ redactor, secrets, files }: RecordOptions) {
    this.#redactor = redactor;
    this.#secrets = secrets;
    this.#files = files;
  }

  /** Fields that identify a fact stay unchanged. */
  fields(value: object, fields: Fields): Record<string, unknown> {
    const members = Object.entries(value).map(([key, member]) => {
      const field = fields[key] ?? fields[`${key}?`] ?? "content any";
      if (typeof field === "object") return [key, isRecord(member) ? this.fields(member, field) : this.#content(member)];
      return [key, field.startsWith("content ") ? this.#content(member) : member];
    });
    return Object.fromEntries(members);
  }

  #content(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.#content(item));
    if (!isRecord(value)) return value;
    const { type, data, ...others } = value;
    const reference = type === "file" && typeof data === "string" ? this.#file(value, data) : undefined;
    return reference ? { type, ...this.#members(others), data: reference } : this.#members(value);
  }

  #members(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const members = Object.entries(value).map(([key, member]) => [escapeKey(this.#redacted(key)), this.#content(member)]);
    return Object.fromEntries(members);
  }

  /** Long texts go into blobs, so that a journal's lines stay lines. */
  #text(text: string): unknown {
    const redacted = this.#redacted(text);
    const long = this.#redactor.look(redacted);
    if (!long) return redacted;
    const { digest, bytes } = long;
    this.kept.blobs.push({ digest, content: redacted });
    return { $blob: digest, bytes };
  }

  #redacted(text: string): string {
    return this.#redactor.record(text, (secret) => this.kept.secrets.push(secret));
  }

  #file(part: object, data: string): object | undefined {
    const digest = "sha256" in part ? part.sha256 : undefined;
    const known = this.#files.get(part);
    if (known?.data === data && known.sha256 === digest) return known.reference;
    const content = Buffer.from(data, "base64");
    // Models and tools write objects of this shape too: a digest is a file name here, and only our own is one.
    if (sha256(content) !== digest) return undefined;
    const reference = this.#keep(content, digest);
    this.#files.set(part, { data, sha256: digest, reference });
    return reference;
  }

  /** A file can hold a secret like any other text. Its bytes are kept as they are, where the journal is not. */
  #keep(content: Buffer, digest: string): object {
    const bytes = content.length;
    if (this.#redactor.holdsSecretBytes(content)) {
      const name = this.#secrets.digest(content);
      this.kept.privateBlobs.push({ name, content });
      return { $private: name, bytes };
    }
    this.kept.blobs.push({ digest, content });
    return { $blob: digest, bytes };
  }
}

/** A model may write an object that looks like one of our references: its key gets one `$` more, and loses it when read. */
function escapeKey(key: string): string {
  return /^\$+(blob|private)$/.test(key) ? `$${key}` : key;
}

/** Finds the blobs of a recorded fact. */
export interface References {
  secretOf(token: string): string | undefined;
  /** Rejects if the content is gone or changed. */
  readBlob(digest: string): Promise<Uint8Array>;
  /** Resolves with undefined if the run's secrets are gone. */
  readPrivate(name: string): Promise<Uint8Array | undefined>;
}

/** Stands for the content of a file where the run's secrets are gone. */
const goneFile = Buffer.from("⟦secret:file⟧");

/** Turns the form of `externalize` back. */
export async function internalize(fact: object, references: References, fields: Fields): Promise<object> {
  const members = Object.entries(fact).map(async ([key, member]) => {
    const field = fields[key] ?? fields[`${key}?`] ?? "content any";
    if (typeof field === "object" && isRecord(member)) return [key, await internalize(member, references, field)];
    return [key, typeof field === "string" && !field.startsWith("content ") ? member : await readContent(member, references)];
  });
  return Object.fromEntries(await Promise.all(members));
}

async function readContent(value: unknown, references: References): Promise<unknown> {
  const secretOf = references.secretOf.bind(references);
  if (typeof value === "string") return restoreSecrets(value, secretOf);
  if (Array.isArray(value)) return Promise.all(value.map((item) => readContent(item, references)));
  if (!isRecord(value)) return value;
  if (typeof value["$blob"] === "string")
    return restoreSecrets(Buffer.from(await references.readBlob(value["$blob"])).toString("utf8"), secretOf);
  const isFile = value["type"] === "file";
  const members = Object.entries(value).map(async ([key, member]) => {
    const file = isFile && key === "data" ? await readFile(member, references) : undefined;
    const name = restoreSecrets(key.replace(/^\$(\$+(?:blob|private))$/, "$1"), secretOf);
    return [name, file?.toString("base64") ?? (await readContent(member, references))];
  });
  return Object.fromEntries(await Promise.all(members));
}

async function readFile(data: unknown, references: References): Promise<Buffer | undefined> {
  if (!isRecord(data)) return undefined;
  if (typeof data["$private"] === "string") return Buffer.from((await references.readPrivate(data["$private"])) ?? goneFile);
  return typeof data["$blob"] === "string" ? Buffer.from(await references.readBlob(data["$blob"])) : undefined;
}
