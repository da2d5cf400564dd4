import { isRecord } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { wrapWords } from "../wrap-text.ts";
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

/** Returns a row for each field; one row for a value that is no object. */
function fieldRows(schema: JsonSchema): Row[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [{ label: typeOf(schema), texts: textsOf(schema) }];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) => ({
    label: show(name),
    texts: [[typeOf(field), ...(names.includes(name) ? ["required"] : []), ...textsOf(field)].join("; ")],
  }));
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return "any";
  const { type, enum: values, items } = schema;
  if (Array.isArray(values)) return `one of ${list(values.map(String))}`;
  if (type === "array") return `list of ${typeOf(items)}`;
  return typeof type === "string" ? show(type) : "any";
}

function textsOf(schema: unknown): string[] {
  return isRecord(schema) && typeof schema["description"] === "string" ? [show(schema["description"])] : [];
}
