import { isRecord } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { wrapWords } from "../text/wrap-text.ts";
import { drawRows, type Row } from "./layout.ts";
import { list, show } from "./phrases.ts";
import { ceilingRows } from "./render-facts.ts";
import { entryOf } from "./unused-roots.ts";

/** Renders what a user of a program needs: its inputs, its output, and what it may do. All texts of the program are escaped. */
export function renderProgramHelp(
  outline: Outline,
  { target, columns }: { readonly target: string; readonly columns: number },
): string {
  const { name, entry } = outline;
  const worker = entryOf(outline);
  const lines = [
    ...wrapWords(`Usage: llm-do [options] ${show(target)} [prompt]`, columns),
    "",
    ...wrapWords(worker?.description ? show(worker.description) : `The program ${show(name)}.`, columns),
    ...(worker
      ? [
          ...section(
            "Input (-i name=value; the prompt fills `input` or the only required text)",
            fieldRows(worker.input),
            columns,
          ),
          ...section("Output", worker.output ? fieldRows(worker.output) : [{ label: "text", texts: ["the answer"] }], columns),
        ]
      : section("Input", [{ label: "code", texts: [`see ${entry.kind === "code" ? show(entry.file) : ""}`] }], columns)),
    ...section("It can, with all that it calls", ceilingRows(outline), columns),
    "",
    ...wrapWords(`llm-do run --help lists the flags, and llm-do explain ${show(target)} says what asks.`, columns),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function section(title: string, rows: readonly Row[], columns: number): string[] {
  return ["", ...wrapWords(title, columns), ...(rows.length > 0 ? drawRows(rows, columns) : ["  none"])];
}

/** Returns a row for each field, in the short notation of worker files; one row for a value that is no object. */
function fieldRows(schema: JsonSchema): Row[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [{ label: typeOf(schema), texts: textsOf(schema) }];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) => ({
    label: `${show(name)}${kindOf(field)}`,
    texts: [[typeOf(field), ...(names.includes(name) ? ["required"] : []), ...textsOf(field)].join("; ")],
  }));
}

/** Renders the mark behind a field's name: `(array)` for a list of its type, `(enum)` for a choice of its values. */
function kindOf(schema: unknown): string {
  if (!isRecord(schema)) return "";
  if (Array.isArray(schema["enum"])) return "(enum)";
  return schema["type"] === "array" ? "(array)" : "";
}

/** Renders the text behind the colon: a type, the values of a choice, or the fields of a map; of a list, the type of its items. */
function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return "any";
  const { type, enum: values, items, properties, required } = schema;
  if (Array.isArray(values)) return `[${list(values.map(String))}]`;
  if (type === "array") return typeOf(items);
  if (schema["x-llm-do"] === "attachment") return "attachment";
  if (isRecord(properties)) {
    const names: readonly unknown[] = Array.isArray(required) ? required : [];
    const fields = Object.entries(properties).map(
      ([name, field]) => `${show(name)}${names.includes(name) ? "" : "?"}${kindOf(field)}: ${typeOf(field)}`,
    );
    return `{ ${fields.join(", ")} }`;
  }
  return typeof type === "string" ? show(type) : "any";
}

/** The description of a field; of a list, also that of its items. */
function textsOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const own = typeof schema["description"] === "string" ? [show(schema["description"])] : [];
  return schema["type"] === "array" ? [...own, ...textsOf(schema["items"])] : own;
}
