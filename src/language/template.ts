import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source, Spanned } from "../diagnostics/source.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { isTemplate } from "./template/template-text.ts";

export { TemplateError } from "./template/template-error.ts";

export interface TemplateContext {
  /**
   * The schema of the values: the fields that it declares are the variables. Undefined if it is not known yet; then
   * names are checked when the template is rendered.
   */
  readonly variables: JsonSchema | undefined;
  /**
   * The file that `{% render "path" %}` means, or undefined if there is none. The path is relative, has no `.` or `..`
   * in it and `/` between its parts; where to look for it, and that a link leads nowhere else, is the callee's business.
   */
  readonly readInclude: (path: string) => Promise<Source | undefined>;
  /** Paths of files that could be meant by one that is not there. */
  readonly includeNames?: (path: string) => Promise<readonly string[]>;
}

/** A text that is made anew for each call. */
export interface Template {
  /** The text for certain values. Reads nothing and runs no code; throws a {@link TemplateError} and nothing else. */
  render(values: JsonObject): string;
  /** The fields whose values go into the text, in files that it renders too. A field that is only tested is none. */
  readonly usedVariables: ReadonlySet<string>;
  /** The files that it renders, as `readInclude` was asked for them. */
  readonly includes: readonly string[];
}

export interface ParsedTemplate {
  /** Undefined if there are errors. */
  readonly template: Template | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks a template with all files that it renders, and makes it ready. A text without `{{` and `{%` stands for itself. */
export async function parseTemplate(text: Spanned<string>, context: TemplateContext): Promise<ParsedTemplate> {
  if (!isTemplate(text.value)) return { template: literalTemplate(text.value), diagnostics: [] };
  const [liquid, { compileTemplate }] = await Promise.all([import("liquidjs"), import("./template/compile-template.ts")]);
  return compileTemplate(liquid, text, context);
}

/** A text that is as it is, whatever braces it has. */
export function literalTemplate(text: string): Template {
  return { render: () => text, usedVariables: new Set(), includes: [] };
}
