import type { Span } from "../diagnostics/source.ts";
import { spanAt } from "../language/shapes/json-shape.ts";
import type { ToolsetSyntax } from "../language/worker-file.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";
import { clipText } from "../util/text/clip-text.ts";
import type { Compilation } from "./compilation.ts";

/** Selects texts of a configuration by the keys that lead to them. */
export type TextFilter = (path: readonly string[]) => boolean;

/**
 * The configuration of a toolset that code defines, or the `wanted` texts of another one, with `${NAME}` replaced by the variable of the environment; `$${NAME}` stands
 * for the text itself. What was put in is kept as a secret of the program. A variable that is not set (or empty) is reported, and
 * stays as written.
 */
export function expandVariables(compilation: Compilation, syntax: ToolsetSyntax, wanted: TextFilter = () => true): JsonObject {
  return mapTexts(syntax, (text, span, path) => (wanted(path) ? expandText(compilation, text, span) : text));
}

/**
 * Reports variables in the configuration of a built-in toolset, where none is filled in: rules of the shell, for instance, are
 * shown to the model. `filled`: the texts where they are filled in.
 */
export function warnOfVariables({ diagnostics }: Compilation, syntax: ToolsetSyntax, filled: TextFilter): void {
  mapTexts(syntax, (text, span, path) => {
    const [name] = filled(path) ? [] : variablesIn(text);
    if (name === undefined) return text;
    const shown = `\`\${${clipText(name, 60)}}\``;
    const message = `${shown} is no variable here: the configuration of \`${syntax.reference.value}\` is taken as it is written`;
    const isServer = path[0] === "servers";
    const note = "write it under `env` of the server, or `headers` of an address: command lines and addresses are shown";
    diagnostics.report("variable-literal", { message, span, ...(isServer ? { note } : {}) });
    return text;
  });
}

/** Notes the variables that a configuration will be given when it is known what it configures. */
export function noteVariables({ variables }: Compilation, syntax: ToolsetSyntax): void {
  mapTexts(syntax, (text) => {
    for (const name of variablesIn(text)) variables.add(name);
    return text;
  });
}

type TextChange = (text: string, span: Span, path: readonly string[]) => string;

function mapTexts({ config, configSpans, reference }: ToolsetSyntax, change: TextChange): JsonObject {
  const map = (value: JsonValue, path: readonly string[]): JsonValue => {
    if (typeof value === "string")
      return value.includes("${") ? change(value, spanAt(configSpans, path) ?? reference.span, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => map(item, [...path, String(index)]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member as JsonValue, [...path, key])]));
  };
  return map(config.value, []) as JsonObject;
}

const variable = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The names of the variables in a text. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(variable)].flatMap(([, escaping, name = ""]) => (escaping === "" ? [name] : []));
}

/** One text of the program's files with its variables filled in. */
export function expandText({ host, diagnostics, secrets, variables, toRun }: Compilation, text: string, span: Span): string {
  return text.replace(variable, (written, escaping: string, name: string) => {
    if (escaping !== "") return written.slice(1);
    variables.add(name);
    const value = getOwn(host.environment, name);
    if (value) {
      secrets.set(name, value);
      return value;
    }
    const message = `the variable \`${clipText(name, 60)}\` is not set`;
    const note = `set it in the environment; for the text itself write \`$${clipText(written, 60)}\``;
    diagnostics.report(toRun ? "variable-missing" : "variable-unset", { message, span, note });
    return written;
  });
}
