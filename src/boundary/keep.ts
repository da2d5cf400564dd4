import { standingFacts } from "../effects/standing.ts";
import { type CallPath, parentCallPath } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import { printProgram } from "../toolsets/kept-program.ts";
import { quoteNames } from "../util/text/did-you-mean.ts";
import { CandidateError } from "./candidate.ts";
import { inferSchema } from "./types/infer-schema.ts";

/** A program that a model wrote, and that ran to its end. */
export interface RecordedProgram {
  readonly callPath: CallPath;
  readonly source: string;
  readonly input: JsonObject;
  /** The names that it called. */
  readonly calls: readonly string[];
}

/**
 * Finds the program that a call of a run executed. An empty path means the only one of the run. Throws a `CandidateError` if there is none
 * that can be kept.
 */
export function findProgram(recorded: readonly Fact[], path: CallPath): RecordedProgram {
  const { facts } = standingFacts(recorded);
  const all = facts.flatMap((fact) => {
    if (fact.type !== "verdict" || !fact.tool.endsWith("run_program")) return [];
    const { source, input = {} } = fact.args;
    return typeof source === "string" && isRecord(input) ? [{ callPath: fact.callPath, source, input: input as JsonObject }] : [];
  });
  const done = all.filter(({ callPath }) => hasEnded(facts, callPath));
  const [found, ...others] = path === "" ? done : done.filter(({ callPath }) => callPath === path);
  const paths = quoteNames(new Set(done.map(({ callPath }) => callPath)));
  if (!found)
    throw new CandidateError(`no program ran to its end at ${path || "any call"}${paths === "" ? "" : `; at ${paths}`}`);
  if (others.some(({ callPath }) => callPath !== found.callPath))
    throw new CandidateError(`name the call of one program: ${paths}`);
  if (JSON.stringify(found).includes("⟦secret:")) throw new CandidateError("the program holds a secret, which no file keeps");
  const made = facts.flatMap((fact) =>
    fact.type === "code-call" && parentCallPath(fact.path) === found.callPath ? [fact.path] : [],
  );
  const names = made.map((one) => one.slice(found.callPath.length + 1).replace(/^\d+\./, ""));
  return { ...found, calls: [...new Set(names)] };
}

function hasEnded(facts: readonly Fact[], callPath: CallPath): boolean {
  return facts.some((fact) => fact.type === "call-end" && fact.callPath === callPath && fact.result?.["ok"] === true);
}

/** Prints the program as a file of which a tool is made. Its input is described by what it was given. */
export function printKept({ source, input, calls }: RecordedProgram): string {
  const description = `Runs a program that calls ${calls.length > 0 ? calls.join(", ") : "nothing"}.`;
  return printProgram({ description, input: inferSchema([input]) as JsonObject, calls }, source);
}
