import type { Mention } from "../compile/compile.ts";
import type { Host } from "../host/host.ts";
import { listFiles } from "../host/scratch-folder.ts";
import type { CallExpectation, Expectations, FileExpectation, Matcher, TestCaseSyntax } from "../language/shapes/test-shape.ts";
import { isRecord, type JsonValue } from "../protocol/json.ts";
import type { Limits } from "../protocol/usage.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import { clipText } from "../util/text/clip-text.ts";
import { matchesFlatGlob } from "../util/text/flat-glob.ts";
import type { Observation, ObservedCall } from "./observation.ts";

/** An expectation that does not hold. */
export interface Failure {
  /** Its key: `output`, `files reports/a.md`. */
  readonly expectation: string;
  /** Continues the key: `does not contain "x"`. */
  readonly message: string;
}

/** The files of a scratch copy, by their paths. */
export type FileDigests = ReadonlyMap<string, string>;

export async function digestFiles(host: Pick<Host, "files">, folder: string): Promise<FileDigests> {
  const digests = new Map<string, string>();
  for (const path of await listFiles(folder)) digests.set(path, sha256(await host.files.readBytes(`${folder}/${path}`)));
  return digests;
}

export interface CheckedRun {
  readonly host: Pick<Host, "files">;
  readonly folder: string;
  /** The files before the run. */
  readonly before: FileDigests;
  readonly seen: Observation;
}

/** The tools that a case speaks of. */
export function mentionsOf({ approve = [], expect = {} }: TestCaseSyntax): readonly Mention[] {
  const { calls = [], never = [], asked = [], refused = [], succeeded = [] } = expect;
  const names = [...never, ...[...calls, ...asked, ...refused, ...succeeded].map(({ name }) => name)];
  const rules = approve === "all" ? [] : approve;
  return [...names.map((written) => ({ written, isRule: false })), ...rules.map((written) => ({ written, isRule: true }))];
}

/** Returns the expectations that do not hold, but for the judge's. */
export async function checkExpectations(expect: Expectations, run: CheckedRun): Promise<readonly Failure[]> {
  const { output, error, files = {}, calls = [], never = [], asked = [], refused = [], succeeded = [], limits = {} } = expect;
  const { seen } = run;
  const found: Failure[] = [];
  const add = (expectation: string, messages: readonly string[]) =>
    found.push(...messages.map((message) => ({ expectation, message })));
  const stop = expect.stop ?? (error ? "failed" : "done");
  const why = seen.error === undefined ? "" : `: ${seen.error}`;
  const [denied] = stop === "denied" ? seen.refused : [];
  const meant = denied ? `; a call that is denied is \`refused: { ${denied.tool}: 1 }\`` : "";
  if (seen.stop !== stop) add("stop", [`is not ${stop}; the run ended with ${seen.stop}${why}${meant}`]);
  if (output && (seen.output !== undefined || seen.stop === stop)) add("output", await mismatches(seen.output, output));
  if (error) add("error", await mismatches(seen.error, error));
  const counted = { calls, asked, refused, succeeded };
  for (const key of ["calls", "asked", "refused", "succeeded"] as const)
    for (const { name, value } of counted[key]) add(`${key} ${name.value}`, checkCalls(seen[key], name.value, value.value));
  for (const { value: name } of never) add(`never ${name}`, checkCalls(seen.calls, name, { times: 0 }));
  add("limits", checkUsage(limits, seen));
  if (Object.keys(files).length > 0) {
    const after = await digestFiles(run.host, run.folder);
    for (const [path, expected] of Object.entries(files))
      add(`files ${path}`, await checkFile(path, expected, { ...run, after }));
  }
  return found;
}

/** Names the tools whose calls were denied because the case says nothing on approval, and expects nothing of it. */
export function describeDenied({ approve, expect = {} }: TestCaseSyntax, { refused, stop }: Observation): readonly string[] {
  const spoken = [...(expect.refused ?? []), ...(expect.asked ?? [])].map(({ name }) => name.value);
  const isSpokenOf = ({ worker, tool }: ObservedCall) =>
    spoken.some((name) => [tool, `${worker}/${tool}`].some((one) => matchesFlatGlob(name, one)));
  if (approve !== undefined || stop === "denied") return [];
  const tools = [...new Set(refused.filter((call) => !isSpokenOf(call)).map(({ tool }) => tool))];
  return tools.map((tool) => `\`${tool}\` was denied: \`approve: all\` allows it, and \`refused: { ${tool}: 1 }\` expects it`);
}

/** Notes on scopes of which the test saw an empty folder. */
export function describeEmptied(scopes: readonly string[]): readonly string[] {
  return scopes.map(
    (name) =>
      `\`${name}\` lies outside of the program's folder, so it was empty here: \`scopes: { ${name}: FOLDER }\` puts a copy in its place`,
  );
}

function checkCalls(made: readonly ObservedCall[], name: string, expected: CallExpectation): readonly string[] {
  const { times, at_least: atLeast, at_most: atMost, args = {} } = expected;
  const named = made.filter(({ worker, tool }) => [tool, `${worker}/${tool}`].some((one) => matchesFlatGlob(name, one)));
  const count = named.filter((call) => holdsArgs(call.args, args)).length;
  const least = times ?? atLeast ?? (atMost === undefined ? 1 : 0);
  const most = times ?? atMost ?? Number.POSITIVE_INFINITY;
  if (count >= least && count <= most) return [];
  const wanted = least === most ? `${least}` : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  const withArgs = Object.keys(args).length > 0 ? " with these arguments" : "";
  const shown = named.slice(0, 3).map((call) => clipText(JSON.stringify(call.args), 120));
  const others = [...new Set(made.map(({ tool }) => tool))];
  const instead =
    shown.length > 0 ? `; calls were ${shown.join(", ")}` : others.length > 0 ? `; others were ${others.join(", ")}` : "";
  return [`${count} ${count === 1 ? "call" : "calls"}${withArgs}, not ${wanted}${instead}`];
}

function holdsArgs(args: JsonValue, expected: Readonly<Record<string, JsonValue>>): boolean {
  return Object.entries(expected).every(([key, value]) => {
    const actual = isRecord(args) ? (args[key] as JsonValue | undefined) : undefined;
    if (typeof value === "string" && typeof actual === "string") return matchesFlatGlob(value, actual);
    return actual !== undefined && canonicalJson(actual) === canonicalJson(value);
  });
}

function checkUsage(limits: Limits, { turns, calls, usage, milliseconds }: Observation): readonly string[] {
  const used: Readonly<Record<string, number | undefined>> = {
    turns,
    tool_calls: calls.length,
    tokens: usage.inputTokens + usage.outputTokens,
    usd: usage.usd,
    seconds: milliseconds / 1000,
  };
  return Object.entries(limits).flatMap(([name, most]: [string, number]) => {
    const amount = used[name];
    if (amount === undefined) return [`${name}: not known of this run`];
    return amount > most ? [`${name}: ${Number(amount.toFixed(4))} is more than ${most}`] : [];
  });
}

interface CheckedFiles extends CheckedRun {
  readonly after: FileDigests;
}

async function checkFile(
  pattern: string,
  expected: FileExpectation,
  { host, folder, before, after }: CheckedFiles,
): Promise<readonly string[]> {
  const fitting = [...after.keys()].filter((path) => matchesFlatGlob(pattern, path));
  const written = fitting.filter((path) => before.get(path) !== after.get(path));
  if (expected === false) return fitting.length > 0 ? [`is there: ${fitting.join(", ")}`] : [];
  const [first] = fitting;
  const without = `\`without: [${first?.split("/", 1)[0]}]\` in the case keeps it out of the copy`;
  if (written.length === 0)
    return [
      first === undefined
        ? `was not written${describeWritten(before, after)}`
        : `was there before the run, and is as it was; ${without}`,
    ];
  if (expected === true) return [];
  const found: string[] = [];
  for (const path of written) {
    const problems = await mismatches(await host.files.readText(`${folder}/${path}`), expected);
    found.push(...problems.map((problem) => (path === pattern ? problem : `${path} ${problem}`)));
  }
  return found;
}

/** Names files that the run wrote instead. Empty if it wrote none. */
function describeWritten(before: FileDigests, after: FileDigests): string {
  const written = [...after.keys()].filter((path) => before.get(path) !== after.get(path));
  return written.length === 0 ? "" : `; written were ${clipText(written.join(", "), 200)}`;
}

/** Returns what a value is not, a text for each; empty if it is all that the matcher says. */
async function mismatches(value: JsonValue | undefined, matcher: Matcher): Promise<readonly string[]> {
  if (value === undefined) return ["is not there"];
  const { equals, contains = [], matches, schema, path = {} } = matcher;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const shown = `it is ${show(value)}`;
  const found: string[] = [];
  if (equals !== undefined && canonicalJson(equals) !== canonicalJson(value)) found.push(`is not ${show(equals)}; ${shown}`);
  for (const part of contains) if (!text.includes(part)) found.push(`does not contain ${show(part)}; ${shown}`);
  if (matches && !matches.test(text)) found.push(`does not match /${matches.source}/; ${shown}`);
  if (schema) {
    const checked = await fromJsonSchema(schema).validate(value);
    if (!checked.ok) found.push(`does not fit the schema: ${renderIssues(checked.issues)}; ${shown}`);
  }
  for (const [place, inner] of Object.entries(path)) {
    const problems = await mismatches(valueAt(value, place.split(".")), inner);
    found.push(...problems.map((problem) => `${place} ${problem}`));
  }
  return found;
}

function valueAt(value: JsonValue | undefined, [key, ...rest]: readonly string[]): JsonValue | undefined {
  if (key === undefined) return value;
  if (Array.isArray(value)) return valueAt((value as readonly JsonValue[])[Number(key)], rest);
  return isRecord(value) && Object.hasOwn(value, key) ? valueAt(value[key] as JsonValue, rest) : undefined;
}

function show(value: JsonValue): string {
  return clipText(JSON.stringify(value), 200);
}
