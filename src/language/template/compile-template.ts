import type { TopLevelToken } from "liquidjs";
import type { Report } from "../../diagnostics/diagnose.ts";
import { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import type { ParsedTemplate, TemplateContext } from "../template.ts";
import { type Inclusion, TemplateChecker } from "./check-template.ts";
import { type LiquidModule, templateLimits } from "./engine.ts";
import { explainSyntax, rawNote } from "./explain-syntax.ts";
import { renderer } from "./renderer.ts";
import { TemplateScope } from "./template-scope.ts";
import { fileTemplateText, type TemplateText, toTemplateText } from "./template-text.ts";
import { ValueTypes } from "./value-types.ts";

/** A text with the files that it renders, read and checked. */
export interface CheckedFile {
  readonly text: TemplateText;
  readonly assigned: Set<string>;
}

/** Reads the files that a template renders, checks all of them, and makes a renderer where nothing is wrong. */
export async function compileTemplate(
  liquid: LiquidModule,
  text: Spanned<string>,
  context: TemplateContext,
): Promise<ParsedTemplate> {
  const compiler = new TemplateCompiler(liquid, context);
  await compiler.check(text);
  return compiler.finish();
}

class TemplateCompiler {
  readonly #liquid: LiquidModule;
  readonly #context: TemplateContext;
  readonly #types: ValueTypes | undefined;
  readonly #list = new DiagnosticList();
  readonly #used = new Set<string>();
  /** The files that are rendered, by their paths; those that are not there are undefined. */
  readonly #files = new Map<string, ScannedTemplate | undefined>();
  readonly #checked = new Map<string, CheckedFile>();
  readonly #visited = new Set<string>();
  #main: CheckedFile | undefined;
  #characters = 0;
  #saidRaw = false;

  constructor(liquid: LiquidModule, context: TemplateContext) {
    this.#liquid = liquid;
    this.#context = context;
    this.#types = context.variables && new ValueTypes(context.variables);
  }

  async check(text: Spanned<string>): Promise<void> {
    const scanned = this.#scan(toTemplateText(text));
    this.#main = { text: scanned.text, assigned: new Set() };
    const inclusions = this.#checkText(scanned, { given: [], assigned: this.#main.assigned });
    for (const inclusion of inclusions) await this.#include(inclusion, scanned.text, []);
  }

  finish(): ParsedTemplate {
    const hasErrors = this.#list.hasErrors;
    const made =
      hasErrors || this.#main === undefined
        ? undefined
        : renderer({ liquid: this.#liquid, main: this.#main, partials: this.#checked, types: this.#types }, this.#list.report);
    const template = made && { render: made, usedVariables: this.#used, includes: [...this.#checked.keys()] };
    return { template, diagnostics: this.#list.toArray() };
  }

  /** The note on braces is given once. */
  readonly #report: Report = (code, details) => {
    const { notes = [] } = details;
    const shown = notes.filter((note) => note !== rawNote || !this.#saidRaw);
    this.#saidRaw ||= notes.includes(rawNote);
    return this.#list.report(code, { ...details, notes: shown });
  };

  #scan(text: TemplateText): ScannedTemplate {
    return scanTemplate(this.#liquid, text, this.#report);
  }

  #checkText(
    scanned: ScannedTemplate,
    names: { readonly given: readonly string[]; readonly assigned: Set<string> },
  ): Inclusion[] {
    const scope = new TemplateScope(this.#types?.fields(), names.given);
    const checker = new TemplateChecker({
      liquid: this.#liquid,
      text: scanned.text,
      scope,
      types: this.#types,
      used: this.#used,
      report: this.#report,
    });
    checker.check(scanned.tokens, { isWhole: scanned.isWhole });
    for (const name of scope.assigned) names.assigned.add(name);
    return checker.inclusions;
  }

  /** Checks a rendered file once for each set of names that it is given. */
  async #include(inclusion: Inclusion, from: TemplateText, above: readonly string[]): Promise<void> {
    const { path, given } = inclusion;
    if (above.includes(path)) {
      const round = [...above.slice(above.indexOf(path)), path].map((name) => `\`${name}\``).join(" → ");
      return this.#list.report("template-cycle", { message: `a file renders itself: ${round}`, span: from.spanOf(inclusion) });
    }
    const visit = JSON.stringify([path, [...given].sort()]);
    if (this.#visited.has(visit)) return;
    this.#visited.add(visit);
    const scanned = await this.#read(inclusion, from);
    if (scanned === undefined) return;
    const checked = this.#checked.get(path) ?? { text: scanned.text, assigned: new Set() };
    this.#checked.set(path, checked);
    for (const inner of this.#checkText(scanned, { given, assigned: checked.assigned })) {
      await this.#include(inner, scanned.text, [...above, path]);
    }
  }

  async #read(inclusion: Inclusion, from: TemplateText): Promise<ScannedTemplate | undefined> {
    const { path } = inclusion;
    if (!this.#files.has(path)) {
      if (this.#files.size >= templateLimits.files) return this.#reportTooMany(inclusion, from);
      const source = await this.#context.readInclude(path);
      this.#characters += source?.text.length ?? 0;
      if (this.#characters > templateLimits.allCharacters) return this.#reportTooMany(inclusion, from);
      this.#files.set(path, source && this.#scan(fileTemplateText(source)));
    }
    const scanned = this.#files.get(path);
    if (scanned) return scanned;
    const near = didYouMean(path, (await this.#context.includeNames?.(path)) ?? []);
    const note = near ?? "files are looked for in the worker's folder, then in `templates/` of the program";
    return this.#list.report("template-include", { message: `there is no file \`${path}\``, span: from.spanOf(inclusion), note });
  }

  #reportTooMany(inclusion: Inclusion, { spanOf }: TemplateText): undefined {
    const { files, allCharacters } = templateLimits;
    const message = `a template renders at most ${files} files with ${allCharacters} characters in all`;
    return this.#list.report("template-too-large", { message, span: spanOf(inclusion) });
  }
}

/** A template cut into text, outputs and tags. */
export interface ScannedTemplate {
  readonly text: TemplateText;
  readonly tokens: readonly TopLevelToken[];
  /** False if a part could not be read. */
  readonly isWhole: boolean;
}

export function scanTemplate(liquid: LiquidModule, text: TemplateText, report: Report): ScannedTemplate {
  const tokens: TopLevelToken[] = [];
  const tooLarge = sizeProblem(text.text);
  if (tooLarge)
    report("template-too-large", { message: tooLarge, span: text.spanOf({ begin: 0, end: Math.min(1, text.text.length) }) });
  if (tooLarge) return { text, tokens, isWhole: false };
  let problems = 0;
  const tokenizer = new liquid.Tokenizer(text.text);
  while (tokenizer.p < tokenizer.N && problems < templateLimits.problems) {
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
