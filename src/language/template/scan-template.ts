import type { TopLevelToken } from "liquidjs";
import { diagnose } from "../../diagnostics/diagnose.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { LiquidModule } from "./engine.ts";
import { explainSyntax } from "./explain-syntax.ts";
import { templateLimits } from "./template-limits.ts";
import type { TemplateText } from "./template-text.ts";

/** A template cut into texts, places to fill in and tags, before anything is made of them. */
export interface ScannedTemplate {
  readonly text: TemplateText;
  readonly tokens: readonly TopLevelToken[];
  readonly diagnostics: readonly Diagnostic[];
}

/** So many mistakes of one text are told; each costs the engine a pass over the text. */
export const maxProblems = 50;

export function scanTemplate(liquid: LiquidModule, text: TemplateText): ScannedTemplate {
  const tooLarge = diagnoseSize(text);
  if (tooLarge) return { text, tokens: [], diagnostics: [tooLarge] };
  const tokens: TopLevelToken[] = [];
  const diagnostics: Diagnostic[] = [];
  const tokenizer = new liquid.Tokenizer(text.text);
  while (tokenizer.p < tokenizer.N && diagnostics.length < maxProblems) {
    const start = tokenizer.p;
    try {
      const token = tokenizer.readTopLevelToken(liquid.defaultOptions);
      if (!liquid.TypeGuards.isHTMLToken(token) && token.end - token.begin > templateLimits.place) {
        diagnostics.push(diagnosePlace(text, token.begin));
      } else tokens.push(token);
    } catch (error) {
      const last = tokens.at(-1);
      const opened = liquid.TypeGuards.isTagToken(last) && last.name === "raw" ? last : { begin: start, end: start + 2 };
      diagnostics.push(explainSyntax(error, text, { start: opened.begin, end: Math.min(opened.end, tokenizer.N) }));
      if (tokenizer.p <= start) break;
    }
  }
  return { text, tokens, diagnostics };
}

function diagnosePlace({ spanOf }: TemplateText, start: number): Diagnostic {
  const message = `between two braces stand at most ${templateLimits.place} characters`;
  return diagnose("template-too-large", { message, span: spanOf(start, start + 2) });
}

function diagnoseSize({ text, spanOf }: TemplateText): Diagnostic | undefined {
  const places = text.match(/\{[{%]/g)?.length ?? 0;
  if (text.length <= templateLimits.characters && places <= templateLimits.places) return undefined;
  const message =
    places > templateLimits.places
      ? `the template has more than ${templateLimits.places} places to fill in`
      : `the template is longer than ${templateLimits.characters} characters`;
  return diagnose("template-too-large", { message, span: spanOf(0, Math.min(1, text.length)) });
}
