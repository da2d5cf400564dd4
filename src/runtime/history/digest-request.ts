import { createHash, type Hash } from "node:crypto";
import type { ModelRequest } from "../../models/model.ts";
import type { Message } from "../../protocol/message.ts";
import type { ToolDefinition } from "../../protocol/tool.ts";
import { createGrowingFold } from "../../util/growing-fold.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { holdsLongText } from "../../util/json/plain-json.ts";
import { withoutFileContent } from "../../util/json/without-file-content.ts";
import type { Redactor } from "../../util/secrets/redactor.ts";
import { sha256 } from "../../util/sha256.ts";
import { digestJson, lengthOfJson, longText } from "../../util/text/long-texts.ts";

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
export function digestRequest({ messages, ...rest }: ModelRequest, terms: DigestTerms): string {
  return foldsOf(terms.redactor).hash(messages, startOf(rest, terms)).copy().digest("hex");
}

/** A request but for its messages. */
interface Start {
  readonly members: readonly unknown[];
  readonly text: string;
}

/** Writes once what comes before the messages: mostly it is the same in each request of a call, object for object. */
function startOf({ tools, ...rest }: Omit<ModelRequest, "messages">, { model, redactor }: DigestTerms): string {
  const { starts } = foldsOf(redactor);
  const members = [model, ...tools, ...Object.entries(rest).flat()];
  const known = starts.get(rest.system);
  if (known?.members.length === members.length && members.every((member, index) => member === known.members[index]))
    return known.text;
  const own = [redactor.toDigestForm(model), canonicalJson(redactor.toDigestForm(rest))];
  const text = [...own, ...tools.map((tool) => measureOnce(tool, redactor).digest), ""].join("\n");
  starts.set(rest.system, { members, text });
  return text;
}

/** Folds over the messages of conversations, by the redactor of the run. */
const folds = new WeakMap<Redactor, ReturnType<typeof createFolds>>();

function foldsOf(redactor: Redactor): ReturnType<typeof createFolds> {
  const known = folds.get(redactor) ?? createFolds(redactor);
  folds.set(redactor, known);
  return known;
}

function createFolds(redactor: Redactor) {
  const measured = (message: Message) => measureOnce(message, redactor);
  return {
    starts: new WeakMap<ModelRequest["system"], Start>(),
    hash: createGrowingFold<Message, Hash>(
      (start) => createHash("sha256").update(start),
      (hash, message) => hash.update(`\n${measured(message).digest}`),
    ),
    tokens: createGrowingFold<Message, { sum: number }>(
      () => ({ sum: 0 }),
      (tokens, message) => {
        tokens.sum += tokensIn(measured(message).characters);
      },
    ),
  };
}

/** Tokens that messages come to: four characters for each, as in English text; files are counted by their size. */
export function estimateMessages(messages: readonly Message[], redactor: Redactor): number {
  return foldsOf(redactor).tokens(messages).sum;
}

/** Tokens that the definition of a tool comes to. */
export function estimateTool(tool: ToolDefinition, redactor: Redactor): number {
  return tokensIn(measureOnce(tool, redactor).characters);
}

const tokensIn = (characters: number) => Math.ceil(characters / 4);

interface Measured {
  readonly digest: string;
  /** The length of its JSON, files included. In UTF-16 units. */
  readonly characters: number;
}

const measured = new WeakMap<object, Measured>();

/** Measures a message or the definition of a tool: once, since neither ever changes. */
function measureOnce(value: object, redactor: Redactor): Measured {
  const known = measured.get(value) ?? measure(value, redactor);
  measured.set(value, known);
  return known;
}

function measure(value: object, redactor: Redactor): Measured {
  const text = holdsLongText(value, longText) ? undefined : canonicalJson(value);
  const isOwnForm = text !== undefined && !text.includes('"type":"file"') && redactor.isPlain(text);
  if (isOwnForm) return { digest: sha256(text), characters: text.length };
  const form = redactor.toDigestForm(withoutFileContent(value));
  return { digest: digestJson(form, redactor.look), characters: text?.length ?? lengthOfJson(value) };
}
