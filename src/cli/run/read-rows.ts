import { createReadStream } from "node:fs";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import type { Program } from "../../front/llm-do.ts";
import type { Row } from "../../map/map-rows.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { inputSchemaOf } from "../../runtime/results/entry-input.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { splitLines } from "../../util/text/split-lines.ts";
import { UsageError } from "../exit-codes.ts";
import { typeFields } from "./input-fields.ts";

/** A row, and the line of its file on which it ends. */
export interface ReadRow {
  readonly line: number;
  /** An error for what is no row. */
  readonly input: Row;
}

/** In bytes: a longer row is a mistake, such as a quote that is not closed. */
const longestRow = 10_000_000;

/**
 * Reads the rows of a file, one after the other: JSON Lines, or CSV by its suffix. `-` is JSON Lines on stdin. Cells get their types from the
 * entry's input; an empty one is no value. Rejects with a `UsageError` if the file cannot be read to its end.
 */
export async function* readRows(path: string, program: Program): AsyncGenerator<ReadRow> {
  const stream = path === "-" ? process.stdin : createReadStream(path);
  try {
    yield* /^\.(?:csv|tsv)$/i.test(extname(path)) ? readCsv(stream, path, program) : readJsonLines(stream, path);
  } catch (thrown) {
    throw thrown instanceof UsageError ? thrown : new UsageError(`--inputs ${path}: ${errorMessage(thrown)}`);
  } finally {
    stream.destroy();
  }
}

async function* readJsonLines(stream: Readable, path: string): AsyncGenerator<ReadRow> {
  let line = 0;
  for await (const text of splitLines(stream)) {
    line++;
    const written = line === 1 ? text.replace(/^\uFEFF/, "") : text;
    if (line === 1 && written.trimStart().startsWith("["))
      throw new UsageError(`${path} is a JSON list: write JSON Lines, one row on each line, without brackets and commas`);
    if (written.trim() !== "") yield { line, input: parseRow(written, line) };
  }
}

function parseRow(text: string, line: number): Row {
  if (text.length > longestRow) return new Error(`line ${line}: this row is longer than ${longestRow} characters`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string" || isRecord(value)) return value as Row;
    return new Error(`line ${line}: a row is an object of the entry's input, or a text`);
  } catch (thrown) {
    return new Error(`line ${line}: this is not JSON: ${errorMessage(thrown)}`);
  }
}

async function* readCsv(stream: Readable, path: string, program: Program): AsyncGenerator<ReadRow> {
  const { parse } = await import("csv-parse");
  const schema = inputSchemaOf(program);
  const parser = parse({
    ...{ columns: true, bom: true, skip_empty_lines: true, relax_column_count: true, info: true },
    ...{ delimiter: /\.tsv$/i.test(path) ? "\t" : ",", max_record_size: longestRow },
  });
  stream.on("error", (error) => parser.destroy(error));
  for await (const { record, info } of stream.pipe(parser) as AsyncIterable<CsvRow>) {
    const { lines: line, error } = info;
    yield { line, input: error ? new Error(error.message) : typeRow(record, line, schema) };
  }
}

interface CsvRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: Error };
}

function typeRow(record: CsvRow["record"], line: number, schema: Parameters<typeof typeFields>[0]): Row {
  const given = Object.entries(record).filter(([, text]) => text !== "");
  try {
    return typeFields(
      schema,
      given.map(([key, text]) => ({ key, text, flag: `line ${line}, column ${key}` })),
    ) as JsonObject;
  } catch (thrown) {
    return new Error(errorMessage(thrown));
  }
}
