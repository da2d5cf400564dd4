import type { Report } from "../../diagnostics/diagnose.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import type { SyntaxNode } from "../yaml/syntax-node.ts";

/** The context of a value that is read: its keys from the root of the file (`limits.turns`), for messages, and the report. */
export interface ReadContext {
  readonly path: string;
  readonly report: Report;
  /** At the root of a file: returns a note on a key that belongs somewhere else. */
  readonly elsewhere?: (key: string) => string | undefined;
}

/**
 * A form of values: how they are read, and their JSON Schema. The one table of a file's
 * keys is made of shapes, so that what is read and what editors complete cannot differ.
 */
export interface Shape<T> {
  readonly jsonSchema: JsonSchema;
  /** The value, or undefined if there is none to use; then it has been reported why. Never throws. */
  read(node: SyntaxNode, context: ReadContext): T | undefined;
}

/** The value that a shape reads. */
export type ShapeValue<S> = S extends Shape<infer T> ? T : never;

export function contextAt(context: ReadContext, key: string | number): ReadContext {
  return { path: context.path === "" ? String(key) : `${context.path}.${key}`, report: context.report };
}

/** A shape whose value keeps its place. */
export function spanned<T>(shape: Shape<T>): Shape<Spanned<T>> {
  return {
    jsonSchema: shape.jsonSchema,
    read(node, context) {
      const value = shape.read(node, context);
      return value === undefined ? undefined : { value, span: node.span };
    },
  };
}

/** A shape that is read but that no run honours yet, except for certain values: writing it is reported, not ignored. */
export function unsupported<T>(shape: Shape<T>, sentence: string, isHonoured = (_value: T): boolean => false): Shape<T> {
  return refined(shape, (value, node, { path, report }) => {
    if (!isHonoured(value)) report("key-unsupported", { message: `\`${path}\`: ${sentence}`, span: node.span });
    return value;
  });
}

/** A shape with a further check or another form of the value. `then` reports what it refuses, and gives undefined. */
export function refined<T, U>(
  shape: Shape<T>,
  then: (value: T, node: SyntaxNode, context: ReadContext) => U | undefined,
): Shape<U> {
  return {
    jsonSchema: shape.jsonSchema,
    read(node, context) {
      const value = shape.read(node, context);
      return value === undefined ? undefined : then(value, node, context);
    },
  };
}
