import type { TopLevelToken } from "liquidjs";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { LiquidModule } from "./engine.ts";
import { explainSyntax } from "./explain-syntax.ts";
import { templateLimits } from "./template-limits.ts";
import type { TemplateText } from "./template-text.ts";

/** A template cut into text, outputs and tags. */
export interface ScannedTemplate {
  readonly text: TemplateText;
  readonly tokens: readonly TopLevelToken[];
  /** False where a part could not be read. */
  readonly isWhole: boolean;
}

/** The most mistakes reported of one text; each costs the engine a pass over the text. */
export const maxProblems = 50;

export function scanTemplate(liquid: LiquidModule, text: TemplateText, report: Report): ScannedTemplate {
  const tokens: TopLevelToken[] = [];
  const tooLarge = sizeProblem(text.text);
  if (tooLarge)
    report("template-too-large", { message: tooLarge, span: text.spanOf({ begin: 0, end: Math.min(1, text.text.length) }) });
  if (tooLarge) return { text, tokens, isWhole: false };
  let problems = 0;
  const tokenizer = new liquid.Tokenizer(text.text);
  while (tokenizer.p < tokenizer.N && problems < maxProblems) {
    const start = tokenizer.p;
    try {
      const token = tokenizer.readTopLevelToken(liquid.defaultOptions);
      if (liquid.TypeGuards.isHTMLToken(token) || token.end - token.begin <= templateLimits.place) tokens.push(token);
      else {
        problems++;
        const message = `between two braces stand at most ${templateLimits.place} characters`;
        report("template-too-large", { message, span: text.spanOf({ begin: token.begin, end: token.begin + 2 }) });
      }
    } catch (error) {
      problems++;
      const last = tokens.at(-1);
      const opened = liquid.TypeGuards.isTagToken(last) && last.name === "raw" ? last : { begin: start, end: start + 2 };
      const range = { begin: opened.begin, end: Math.min(opened.end, tokenizer.N) };
      report("template-syntax", explainSyntax(error, text, range));
      if (tokenizer.p <= start) break;
    }
  }
  return { text, tokens, isWhole: problems === 0 };
}

function sizeProblem(text: string): string | undefined {
  const { characters, places } = templateLimits;
  if ((text.match(/\{[{%]/g)?.length ?? 0) > places) return `the template has more than ${places} places to fill in`;
  return text.length > characters ? `the template is longer than ${characters} characters` : undefined;
}
