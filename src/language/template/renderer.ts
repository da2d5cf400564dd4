import type { Liquid, Template as Part } from "liquidjs";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { CheckedFile } from "./compile-template.ts";
import { createEngine, inputRegister, LimitedOutput, type LiquidModule, type Partial, toScope } from "./engine.ts";
import { explainSyntax } from "./explain-syntax.ts";
import { type LiquidFailure, TemplateError } from "./template-error.ts";
import type { TemplateText } from "./template-text.ts";
import { prepareValue, type ValueTypes } from "./value-types.ts";

export interface RendererParts {
  readonly liquid: LiquidModule;
  readonly main: CheckedFile;
  readonly partials: ReadonlyMap<string, CheckedFile>;
  readonly types: ValueTypes | undefined;
}

/** Parses checked texts and gives what renders them; undefined if the engine refuses what the checks let pass. */
export function renderer(parts: RendererParts, report: Report): ((values: JsonObject) => string) | undefined {
  const { liquid, main } = parts;
  const partials = new Map<string, Partial>();
  const engine = createEngine(liquid, partials);
  const fields = [...(parts.types?.fields()?.keys() ?? [])];
  const templates = parse(engine, main.text, report);
  for (const [path, { text, assigned }] of parts.partials) {
    const parsed = parse(engine, text, report);
    if (parsed === undefined) return undefined;
    partials.set(path, { templates: parsed, assigned });
  }
  if (templates === undefined) return undefined;
  return (values) => {
    try {
      const input = toScope(fields, prepareInput(values, parts.types));
      const context = new liquid.Context(toScope(main.assigned, input), engine.options, { sync: true }, { liquid: engine });
      context.setRegister(inputRegister, input);
      const output = new LimitedOutput(context);
      liquid.toValueSync(engine.renderer.renderTemplates(templates, context, output));
      return output.buffer;
    } catch (error) {
      throw explainFailure(error, [main.text, ...[...parts.partials.values()].map(({ text }) => text)]);
    }
  };
}

function prepareInput(values: JsonObject, types: ValueTypes | undefined): object {
  const known = types?.fields();
  const entries = Object.entries(values).map(([name, value]) => [name, prepareValue(value, known?.get(name), types)]);
  return Object.fromEntries(entries) as object;
}

function parse(engine: Liquid, text: TemplateText, report: Report): Part[] | undefined {
  try {
    return engine.parse(text.text);
  } catch (error) {
    return report("template-syntax", explainSyntax(error, text, { begin: 0, end: text.text.length }));
  }
}

/** Explains an error of the engine in the author's words, with its place. */
function explainFailure(error: unknown, texts: readonly TemplateText[]): TemplateError {
  const { message = "", name, token } = (error ?? {}) as LiquidFailure;
  const text = texts.find((one) => one.text === token?.input);
  const span = text && token && text.spanOf({ begin: token.begin ?? 0, end: token.end ?? 0 });
  const [, variable] = /undefined variable: (.*?)(?:, (?:file|line):.*)?$/s.exec(message) ?? [];
  if (name === "UndefinedVariableError" || variable !== undefined) {
    const sentence = `the template prints \`${variable ?? ""}\`, which has no value in this call`;
    return new TemplateError(sentence, { reason: "missing-value", span, cause: error });
  }
  if (/(memory alloc|template render|parse length) limit exceeded/.test(message)) {
    return new TemplateError("the template takes too long or makes too much text", { reason: "limit", span, cause: error });
  }
  const sentence = message.replace(/, line:\d+, col:\d+$/, "");
  return new TemplateError(`the template cannot be rendered: ${sentence}`, { reason: "failed", span, cause: error });
}
