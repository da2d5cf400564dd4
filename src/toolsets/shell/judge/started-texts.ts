import type { RuleText } from "../../toolset.ts";
import type { ShellWord } from "../parse/plan.ts";
import { quoteWord } from "../parse/quote.ts";
import { baseName } from "../parse/scripts.ts";
import type { Start } from "./starts.ts";

/** Some program that is not known beforehand. */
export const anything: RuleText = { text: "", open: true };

/** Texts that rules for calls compare with a program: its words, and what it may start besides, which says nothing to a rule that allows. */
export function textsOfStart({ words, others, takesMore }: Start): readonly RuleText[] {
  const possible = others.flatMap((some) => {
    const texts = textsOf(some).map((text) => (typeof text === "string" ? { text } : text));
    // The last word of a starter can get arguments from elsewhere.
    return some.length === 1 ? [...texts, { text: beginningOf(some), open: true }] : texts;
  });
  return [...textsOf(words), ...(takesMore ? [{ text: beginningOf(words), open: true }] : []), ...possible];
}

/** As a user would write it, by its bare name too, and what unknown words could make of it. */
function textsOf(words: readonly ShellWord[]): readonly RuleText[] {
  const texts: RuleText[] = [join(words)];
  const [program] = words;
  const named = program && baseName(program.value) !== program.value ? withName(words, baseName(program.value)) : undefined;
  if (named) texts.push({ text: join(named) });
  if (words.every(({ kind }) => kind === "static")) return texts;
  return [...texts, ...[words, named ?? words].map((some) => ({ text: beginningOf(some), open: true }))];
}

/** The known beginning of a start. */
function beginningOf(words: readonly ShellWord[]): string {
  const at = words.findIndex(({ kind }) => kind !== "static");
  const known = (at === -1 ? words : words.slice(0, at)).map(({ value }) => `${quoteWord(value)} `).join("");
  const head = words[at]?.head ?? "";
  // A word that needs quotes is quoted from its beginning on.
  return quoteWord(head) === head ? known + head : known;
}

function join(words: readonly ShellWord[]): string {
  return words.map(({ kind, value }) => (kind === "static" ? quoteWord(value) : value)).join(" ");
}

function withName([program, ...rest]: readonly ShellWord[], name: string): readonly ShellWord[] {
  return program ? [{ ...program, value: name, head: program.kind === "static" ? name : "" }, ...rest] : [];
}
