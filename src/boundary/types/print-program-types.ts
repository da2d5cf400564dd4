import type { Program } from "../../program/program.ts";
import type { Outline } from "../../protocol/outline.ts";
import { commentText, key, printType } from "./print-type.ts";

interface Callable {
  readonly name: string;
  readonly description: string;
  readonly input: string;
  readonly output: string;
}

/** Begins every file that `llm-do types` has written. */
export const typesMark = "// Written by `llm-do types`.";

/**
 * Prints the declarations of a program for `llm-do.d.ts`: what each of its workers, and each tool that its code calls, takes and gives.
 * Without a `program`, which an untrusted folder has not, the schemas and tools of its code are left open, and the file says so.
 */
export function printProgramTypes(outline: Outline, program: Program | undefined): string {
  const callables = [...workersOf(outline), ...(program ? toolsOf(program) : [])];
  return [
    `${typesMark} Run it again after a change of a worker or a schema; \`llm-do types --check\` fails where this file is old.`,
    ...(program
      ? []
      : ["// The folder is not trusted: what only its code says is `unknown` here. `llm-do types --trust` reads it."]),
    ...(callables.some(({ output }) => output === "JsonValue")
      ? ['import type { JsonValue } from "llm-do";']
      : ['import "llm-do";']),
    "",
    'declare module "llm-do" {',
    "  interface Callables {",
    ...callables.sort((one, other) => (one.name < other.name ? -1 : 1)).map(printMember),
    "  }",
    "}",
    "",
  ].join("\n");
}

function printMember({ name, description, input, output }: Callable): string {
  const said = description === "" ? "" : `    /** ${commentText(description)} */\n`;
  return `${said}    ${key(name)}: {\n      input: ${printAt(input)};\n      output: ${printAt(output)};\n    };`;
}

function printAt(type: string): string {
  return type.replaceAll("\n", "\n      ");
}

/** The workers that a name alone means. */
function workersOf({ workers }: Outline): readonly Callable[] {
  return workers
    .filter(({ name }) => workers.filter((other) => other.name === name).length === 1)
    .map(({ name, description, input, output }) => ({
      ...{ name, description, input: printType(input) },
      output: output ? printType(output) : "string",
    }));
}

function toolsOf(program: Program): readonly Callable[] {
  return [...program.callables]
    .filter(([, { worker }]) => worker === undefined)
    .flatMap(([name, { tools }]) =>
      tools.map(({ description, input }) => ({ name, description, input: printType(input.jsonSchema), output: "JsonValue" })),
    );
}
