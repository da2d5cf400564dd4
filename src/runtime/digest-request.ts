import type { ModelRequest } from "../models/model.ts";
import { recordsIn } from "../protocol/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import type { Redactor } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { withoutFileContent } from "../util/without-file-content.ts";

export interface DigestTerms {
  /** `provider:name`. */
  readonly model: string;
  readonly redactor: Redactor;
}

/**
 * Equal requests have equal digests: of the model's id, the system parts, the messages, the tools, the output schema and what the
 * worker's own settings ask of the model. Taken over the form without secrets, which is what a record holds. Messages and tools are
 * digested once each, however often they are sent.
 */
export function digestRequest({ messages, tools, ...rest }: ModelRequest, { model, redactor }: DigestTerms): string {
  const once = (value: object) => measureOnce(value, redactor).digest;
  return sha256(
    [
      redactor.toDigestForm(model),
      canonicalJson(redactor.toDigestForm(rest)),
      ...tools.map(once),
      "",
      ...messages.map(once),
    ].join("\n"),
  );
}

interface Measured {
  readonly digest: string;
  /** The length of its JSON, files included. In UTF-16 units. */
  readonly characters: number;
}

const measured = new WeakMap<object, Measured>();

/** Measures a message or the definition of a tool: once, since neither ever changes. */
export function measureOnce(value: object, redactor: Redactor): Measured {
  const known = measured.get(value) ?? measure(value, redactor);
  measured.set(value, known);
  return known;
}

function measure(value: object, redactor: Redactor): Measured {
  const files = "parts" in value ? recordsIn(value.parts).filter(({ type }) => type === "file") : [];
  if (files.length > 0) {
    const bare = withoutFileContent(value);
    // JSON has the content of a file, which is base64, as it is.
    const content = files.reduce((sum, { data }) => sum + String(data).length + ',"data":""'.length, 0);
    return { digest: sha256(canonicalJson(redactor.toDigestForm(bare))), characters: canonicalJson(bare).length + content };
  }
  const text = canonicalJson(value);
  const isOwnForm = !text.includes('"type":"file"') && redactor.isPlain(text);
  const form = isOwnForm ? text : canonicalJson(redactor.toDigestForm(withoutFileContent(value)));
  return { digest: sha256(form), characters: text.length };
}
