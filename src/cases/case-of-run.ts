import { createRecordingFilter } from "../effects/policies/recorded.ts";
import { standingFacts } from "../effects/standing.ts";
import { addCase } from "../language/edit-test-file.ts";
import { parseTestFile } from "../language/test-file.ts";
import { type CallPath, isAtOrBelow, isInCheck, parentCallPath } from "../protocol/call.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Recording } from "./recording.ts";
import { folderToken } from "./scratch-case.ts";

/** A recorded call of a worker, and what wrote files in it. */
export interface RecordedRun {
  /** As the journal has them: secrets are tokens. */
  readonly facts: readonly Fact[];
  /** Absolute path of the program's folder. */
  readonly root: string;
  readonly callPath: CallPath;
  /** Files that it wrote, by their path in the program's folder: those that were there before lie at `before`, beside the test. */
  readonly written: ReadonlyMap<string, { readonly before?: string }>;
  /** The places of the files of its input, beside the test. */
  readonly attachments: readonly string[];
  /** Names of file tools: they run in a test. */
  readonly fileTools: ReadonlySet<string>;
}

/** A case of a test, but for its name and the places of its files. */
export interface CaseOfRun {
  /** Keys and values of a test file. */
  readonly keys: JsonObject;
  readonly recording: Recording;
}

/** A call that no case can play. */
export class NoCase extends Error {}

/** Makes a case of a recorded call that expects what happened. Throws a `NoCase` that says why a test cannot play it. */
export function caseOfRun({ root, callPath, written, attachments, fileTools, ...run }: RecordedRun): CaseOfRun {
  const { facts } = standingFacts(run.facts);
  const [begun] = run.facts;
  const own = facts.filter((fact) => "callPath" in fact && isAtOrBelow(fact.callPath, callPath) && !isInCheck(fact.callPath));
  const start = own.find((fact): fact is FactOf<"call-start"> => fact.type === "call-start" && fact.callPath === callPath);
  const end = own.find((fact): fact is FactOf<"call-end"> => fact.type === "call-end" && fact.callPath === callPath);
  if (begun?.type !== "run-start" || start?.kind !== "worker") throw new NoCase(`there is no call of a worker at ${callPath}`);
  if (!end) throw new NoCase(`the call ${callPath} has not ended`);
  refuseUnplayable({ begun, start, own, root });
  // Its caller decides if it is allowed itself.
  const below = own.filter((fact) => "callPath" in fact && fact.callPath !== callPath);
  const { set } = begun.compiled ?? {};
  const befores = [...written].flatMap(([path, { before }]) => (before === undefined ? [] : [[path, before]]));
  const made = [...written].flatMap(([path, { before }]) => (before === undefined ? [path] : []));
  const { model } = start;
  return {
    keys: {
      input: start.input.input,
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(set ? { set } : {}),
      ...(befores.length > 0 ? { files: Object.fromEntries(befores) } : {}),
      ...(made.length > 0 ? { without: made } : {}),
      ...approvalOf(below),
      expect: {
        ...expectedEnd(end),
        ...expectedCalls(below),
        ...(written.size > 0 ? { files: Object.fromEntries([...written.keys()].map((path) => [path, true])) } : {}),
      },
    },
    recording: {
      ...(model === undefined ? {} : { model: model.replace(/^scripted:(?!\/)/, `scripted:${folderToken}/`) }),
      facts: { case: own.map((fact) => moved(fact, callPath, start.name)).flatMap(keepFor(fileTools)), judge: [] },
    },
  };
}

/** Returns the text of a test file with one more case, and that case. Throws a `NoCase` if that would be no test file. */
export function addToTests(
  text: string | undefined,
  file: string,
  keys: JsonObject,
): { readonly text: string; readonly item: string } {
  const added = addCase(text, keys);
  if (added === undefined) throw new NoCase(`${file}: its cases do not stand in a list with lines of their own`);
  const [before, after] = [text ?? "", added].map((one) => parseTestFile({ name: file, text: one }));
  const [mistake] = after?.diagnostics.filter(({ severity }) => severity === "error") ?? [];
  if (mistake) throw new NoCase(`${file}: ${mistake.message}`);
  if (text !== undefined && after?.cases.length !== Number(before?.cases.length) + 1)
    throw new NoCase(`${file}: a case cannot be added to it`);
  return { text: added, item: addCase(undefined, keys) ?? "" };
}

interface Played {
  readonly begun: FactOf<"run-start">;
  readonly start: FactOf<"call-start">;
  readonly own: readonly Fact[];
  readonly root: string;
}

function refuseUnplayable({ begun, start, own, root }: Played): void {
  const { compiled, history = [] } = begun;
  if (start.input.fragments.length > 0) throw new NoCase("its caller added texts to the input, which a test does not");
  if (history.length > 0 && parentCallPath(start.callPath) === undefined)
    throw new NoCase("it goes on with a conversation, which a test does not");
  if (compiled?.modelFor) throw new NoCase("--model-for chose its models, which a test does not");
  for (const fact of own) {
    const { type, ...decision } = fact.type === "decision" ? fact.decision : { type: "" };
    if ("args" in decision) throw new NoCase("a person changed the arguments of a call, and a test cannot");
    if (type === "stop") throw new NoCase("a person stopped it, and a test cannot");
    const isOfMachine =
      (fact.type === "intent" || fact.type === "result") && JSON.stringify(fact).includes(JSON.stringify(root).slice(1, -1));
    if (isOfMachine && fact.kind === "model")
      throw new NoCase(
        "the model was told the path of the program's folder, and a test plays in a copy: `llm-do test --record` asks it anew",
      );
  }
}

/** Leaves to the test what runs in it, but for the words of a denial: the model was told them. */
function keepFor(fileTools: ReadonlySet<string>): (fact: Fact) => readonly Fact[] {
  const choose = createRecordingFilter((tool) => fileTools.has(tool));
  return (fact) => {
    const chosen = fact.type === "decision" && fact.decision.note !== undefined ? fact : choose(fact);
    return chosen ? [chosen] : [];
  };
}

/** The call is the entry of the test. */
function moved(fact: Fact, from: CallPath, name: string): Fact {
  return "callPath" in fact ? { ...fact, callPath: `${name}${fact.callPath.slice(from.length)}` } : fact;
}

/** Approves what was approved. Throws a `NoCase` if a rule cannot tell calls of one tool apart. */
function approvalOf(below: readonly Fact[]): JsonObject {
  const decisions = below.filter((fact) => fact.type === "decision");
  const names = (type: string) => new Set(decisions.filter(({ decision }) => decision.type === type).map(({ tool }) => tool));
  const [approved, denied] = [names("approve"), names("deny")];
  if (approved.size === 0) return {};
  if (denied.size === 0) return { approve: "all" };
  const both = [...approved].find((tool) => denied.has(tool));
  if (both !== undefined)
    throw new NoCase(`one call of \`${both}\` was approved, another denied: a test has one answer for both`);
  return { approve: [...approved].map((tool) => `*/${tool}`) };
}

function expectedEnd({ stopReason, output, error }: FactOf<"call-end">): JsonObject {
  const message = typeof error?.["error"] === "string" ? error["error"] : error?.["message"];
  return {
    ...(stopReason === "done" ? {} : { stop: stopReason }),
    ...(output === undefined ? {} : { output: isPlain(output) ? output : { equals: output } }),
    ...(typeof message === "string" ? { error: { contains: message } } : {}),
  };
}

function isPlain(output: JsonValue): boolean {
  return typeof output !== "object" || output === null;
}

/** How often each tool was called, and how often a call of it was not executed. */
function expectedCalls(below: readonly Fact[]): JsonObject {
  const called = new Map<CallPath, string>();
  const refused = new Map<CallPath, string>();
  for (const fact of below) {
    if (fact.type === "verdict") called.set(fact.callPath, fact.tool);
    if (fact.type === "verdict" && fact.verdict.type === "blocked") refused.set(fact.callPath, fact.tool);
    if (fact.type === "decision" && fact.decision.type === "deny") refused.set(fact.callPath, fact.tool);
  }
  const counts = (tools: readonly string[]) => {
    const byName = Map.groupBy(tools, (tool) => tool);
    return Object.fromEntries([...byName].map(([tool, { length }]) => [tool, length]));
  };
  return {
    ...(called.size > 0 ? { calls: counts([...called.values()]) } : {}),
    ...(refused.size > 0 ? { refused: counts([...refused.values()]) } : {}),
  };
}
