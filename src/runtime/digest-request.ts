import type { ModelRequest } from "../models/model.ts";
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
  const once = (value: object) => digestOnce(value, redactor);
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

const digestOf = new WeakMap<object, string>();

function digestOnce(value: object, redactor: Redactor): string {
  let digest = digestOf.get(value);
  if (digest === undefined) {
    digest = sha256(canonicalJson(redactor.toDigestForm(withoutFileContent(value))));
    digestOf.set(value, digest);
  }
  return digest;
}
