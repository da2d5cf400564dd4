import { unsure } from "llm-do";

interface Asked {
  readonly message: string;
}

const urgent = /\b(cannot go on|today|blocked)\b/i;

/** Answers what its words decide, and leaves the rest to the prompt. */
export function sort_message({ message }: Asked) {
  if (/\b(hangs|crashes|fails|error)\b/i.test(message)) return { kind: "bug", urgent: urgent.test(message) };
  if (/\?$/.test(message)) return { kind: "question", urgent: urgent.test(message) };
  if (/\b(please add|would be nice)\b/i.test(message)) return { kind: "wish", urgent: false };
  return unsure("no word that decides");
}

/** A first try. It looks for `error` alone, and takes everything else for a question. */
export function sort_roughly({ message }: Asked) {
  return { kind: /\berror\b/i.test(message) ? "bug" : "question", urgent: urgent.test(message) };
}
