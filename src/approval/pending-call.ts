import type { Preview, Verdict } from "../protocol/approval.ts";
import type { FactOf, SaidOfCall } from "../protocol/fact.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { renderIssues } from "../schema/schema.ts";
import {
  type OwnVerdict,
  type Preparation,
  type PreparedToolsetCall,
  type RuleText,
  type Tool,
  type ToolsetCall,
  toolFailure,
} from "../toolsets/toolset.ts";
import { andThen, orAborted } from "../util/async/abortable.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { copyJson, frozenJson, isPlainJson } from "../util/json/plain-json.ts";
import type { Redactor } from "../util/secrets/redactor.ts";
import { joinContext, splitContext } from "./extra-context.ts";
import type { GatedCall, GateRun, ToolsetBinding } from "./gate-types.ts";
import { type ReadRule, type RuledCall, type Ruling, ruleOnCreated, textOfArgument } from "./rules/approval-rule.ts";
import type { ShownContent } from "./rules/memory.ts";
import { judge } from "./verdict.ts";

/** A call on its way through the gate. */
export interface PendingCall {
  readonly binding: ToolsetBinding;
  readonly tool: Tool;
  readonly request: GatedCall;
  /** As the run's policy says. */
  readonly unisolated: boolean;
}

/**
 * Arguments that fit the schema. Where the schema makes something of them that is not JSON (a Date, a Set), `args` stay as
 * they were given, to be shown and remembered, and `transformed` says that the tool gets what the schema makes of them.
 */
export interface CheckedArgs {
  readonly args: JsonObject;
  readonly transformed: boolean;
}

/** A prepared call in its one form, with the digest that the question and the execution share. */
export interface PreparedCall {
  readonly checked: CheckedArgs;
  readonly preparation: Preparation;
  readonly digest: string;
  readonly view: PreparedToolsetCall;
  /** Files of the worker's call that the tool can reach beside its arguments, by name and digest. */
  readonly carried: readonly string[];
  /** Only in a replay: its toolset's verdict of today. */
  readonly ownToday?: OwnVerdict;
  /** It comes from the record of an earlier run, has no payload, and is never executed. */
  readonly isRestored?: boolean;
  /** Present if the call asks. */
  readonly question?: ShownCall;
}

/** What a question shows of a call. A restored call has the digest alone: its question is in the record. */
export interface ShownCall {
  /** Of the call, with all that the question shows, and with the folders that its scopes stand for. */
  readonly digest: string;
  readonly description: string;
  readonly preview: Preview | undefined;
}

const noFiles: readonly string[] = [];

/** Throws a `ToolFailure` that says which argument is wrong and why. `args`: a copy that nobody else has. */
export function checkArgs(call: PendingCall, args: JsonValue): CheckedArgs | Promise<CheckedArgs> {
  const { tool, request } = call;
  const { name } = tool;
  if (!isRecord(args))
    throw toolFailure("invalid_arguments", `\`${name}\` takes one object of arguments`, "call it again with a JSON object");
  const { input, texts } = splitContext(call, args);
  return andThen(orAborted(tool.input.validate(input), request.runtime.signal), (checked) => {
    if (!checked.ok) {
      const error = `the arguments of \`${name}\` do not fit: ${renderIssues(checked.issues)}`;
      throw toolFailure("invalid_arguments", error, "correct the arguments and call it again");
    }
    const isPlain = isPlainJson(checked.value);
    return { args: joinContext((isPlain ? checked.value : input) as JsonObject, texts) as JsonObject, transformed: !isPlain };
  });
}

/** Looks at what a call is about. Waits for nothing where its toolset does not look. */
export function prepareCall(
  pending: PendingCall,
  checked: CheckedArgs,
  redactor: Redactor,
): PreparedCall | Promise<PreparedCall> {
  const { binding, tool, request, unisolated } = pending;
  const { input, texts } = splitContext(pending, checked.args);
  const named = { tool: tool.name, args: input, config: binding.config };
  const call: ToolsetCall = texts ? { ...named, extraContext: texts } : named;
  const finish = (found: Preparation | undefined): PreparedCall => {
    const canonicalArgs = frozenJson(joinContext(found?.canonicalArgs ?? input, texts) as JsonObject);
    const preparation = found ? { ...found, canonicalArgs } : { targets: [], facts: {}, canonicalArgs };
    const digest = redactor.digest([binding.reference, tool.name, canonicalArgs, preparation.facts]);
    const files = binding.toolset.prepare ? [] : request.runtime.attachments;
    return {
      checked: { args: canonicalArgs, transformed: checked.transformed && found === undefined },
      preparation,
      digest,
      view: { ...call, args: canonicalArgs, preparation },
      carried: files.length === 0 ? noFiles : files.map(({ name, sha256: content }) => `${content} ${name}`),
    };
  };
  if (!binding.toolset.prepare) return finish(undefined);
  const { scopes, signal } = request.runtime;
  const access = {
    ...{ scopes, signal, caller: request.caller, networkEnabled: binding.networkEnabled ?? false, unisolated },
    digestToRecord: (text: string) => redactor.digestOfPublic(text),
  };
  return andThen(orAborted(binding.toolset.prepare(call, access), signal), finish);
}

/** A call as it was recorded. */
export function restoreCall(
  { binding, tool }: PendingCall,
  { transformed }: CheckedArgs,
  { args, facts, digest, asked, ...more }: FactOf<"verdict">,
): PreparedCall {
  const preparation = { canonicalArgs: args, targets: [], facts, ...recordedOptions(more) };
  const view = { tool: tool.name, args, config: binding.config, preparation };
  const question = { digest: asked ?? digest, description: "", preview: undefined };
  return { checked: { args, transformed }, preparation, digest, view, carried: [], isRestored: true, question };
}

/** The part of a verdict's fact that says what was found out about the call. */
export function recordOf({ digest, preparation, question }: PreparedCall) {
  const { canonicalArgs: args, facts } = preparation;
  return { args, facts, digest, ...recordedOptions(preparation), ...(question ? { asked: question.digest } : {}) };
}

/** Optional parts of a preparation, recorded if present. */
function recordedOptions({ sideEffect, hint, recorded }: Pick<Preparation, "sideEffect" | "hint" | "recorded">) {
  if (sideEffect === undefined && hint === undefined && !recorded) return undefined;
  return {
    ...(sideEffect === undefined ? {} : { sideEffect }),
    ...(hint === undefined ? {} : { hint }),
    ...(recorded ? { recorded } : {}),
  };
}

/** The arguments as the tool gets them: its own copy, so that nothing which was shown can be changed. */
export function argsToExecute(call: PendingCall, { checked }: PreparedCall): JsonObject | Promise<JsonObject> {
  const { input: args } = splitContext(call, copyJson(checked.args) as JsonObject);
  return checked.transformed ? transform(call, args) : args;
}

async function transform({ tool }: PendingCall, args: JsonObject): Promise<JsonObject> {
  const made = await tool.input.validate(args);
  if (!made.ok)
    throw toolFailure("invalid_arguments", `the arguments of \`${tool.name}\` no longer fit: ${renderIssues(made.issues)}`);
  return made.value as JsonObject;
}

interface Judged {
  readonly verdict: Verdict;
  /** What a toolset that looks at its calls said of this one, to be recorded. */
  readonly said?: SaidOfCall;
}

/** The part of a run that a verdict depends on. */
type Judging = Pick<GateRun, "rules" | "looksOnly">;

const changes: Verdict = { type: "blocked", why: "it may change something, and a check changes nothing" };

/** The verdict on a prepared call: what its toolset, the author of its caller and the rules of the run come to. */
export function judgeCall({ rules, looksOnly }: Judging, call: PendingCall, prepared: PreparedCall): Judged {
  const { toolset } = call.binding;
  if (looksOnly && (prepared.preparation.sideEffect ?? call.tool.sideEffect) !== false) return { verdict: changes };
  const own = toolset.needsApproval ? checkVerdict(toolset.needsApproval(prepared.view)) : defaultVerdict(call.tool);
  const texts = settledNow(toolset.ruleTexts?.(prepared.view)) ?? {};
  const verdict = judgeSaid(rules, call, { own, view: prepared.view, texts });
  if (!toolset.prepare) return { verdict };
  const shown = Object.keys(texts).length > 0 ? { texts: texts as unknown as JsonObject } : {};
  return { verdict, said: { ...(own ? { own } : {}), ...shown } };
}

/** Adds the toolset's own verdict of today on a call that was recorded, where the toolset can tell without a look at the call. */
export function judgeOwnAgain(
  { binding, tool, request }: PendingCall,
  restored: PreparedCall,
  { args, facts, said }: FactOf<"verdict">,
): PreparedCall | Promise<PreparedCall> {
  const { toolset, config } = binding;
  const own = said?.own as OwnVerdict | undefined;
  if (!toolset.judgeRecorded || !own) return restored;
  const judged = toolset.judgeRecorded({ tool: tool.name, args, config, facts, own }, request.runtime.scopes);
  return andThen(judged, (ownToday) => (ownToday === undefined ? restored : { ...restored, ownToday }));
}

/**
 * The verdict of today on a call as it was recorded. What a toolset found out where it looked at the call is taken from the record, with its
 * own verdict on that, unless it judged anew; undefined for a record that does not have it.
 */
export function judgeRecorded(
  { run, given }: { readonly run: Judging; readonly given: readonly ReadRule[] },
  call: PendingCall,
  { recorded, ownToday }: { readonly recorded: FactOf<"verdict">; readonly ownToday: OwnVerdict | undefined },
): Verdict | undefined {
  const { args, facts, said } = recorded;
  const { binding, tool } = call;
  if (run.looksOnly && (recorded.sideEffect ?? tool.sideEffect) !== false) return changes;
  const rules = [...run.rules, ...given];
  const view = { tool: tool.name, args, config: binding.config, preparation: { canonicalArgs: args, targets: [], facts } };
  const { toolset } = binding;
  if (!toolset.prepare) {
    const own = toolset.needsApproval ? checkVerdict(toolset.needsApproval(view)) : defaultVerdict(tool);
    return judgeSaid(rules, call, { own, view });
  }
  const texts = said?.texts as Readonly<Record<string, readonly RuleText[]>> | undefined;
  return said && judgeSaid(rules, call, { own: ownToday ?? (said.own as OwnVerdict | undefined), view, texts: texts ?? {} });
}

interface SaidCall extends Pick<PreparedCall, "view"> {
  readonly own: OwnVerdict | undefined;
  /** Default: what the toolset says now. */
  readonly texts?: Readonly<Record<string, readonly RuleText[]>>;
}

function judgeSaid(rules: readonly ReadRule[], call: PendingCall, said: SaidCall): Verdict {
  const { binding, tool } = call;
  const preApproved = binding.approvals.get(tool.name) ?? binding.approvals.get("*");
  return judge({ own: said.own, preApproved, ruling: findRuling(rules, call, said) });
}

function defaultVerdict({ approval }: Tool): OwnVerdict | undefined {
  if (approval === "pre-approved") return { type: "pre-approved", why: "its author pre-approves it" };
  return approval === "ask" ? { type: "needs-approval", by: "default" } : undefined;
}

/** Blocks for a value that is no verdict (a promise, a misspelt type). A verdict that asks without a reason asks by a rule. */
function checkVerdict(own: unknown): OwnVerdict | undefined {
  if (own === undefined) return undefined;
  const { type, by, why } = isRecord(own) ? own : {};
  const reason = typeof why === "string" ? { why } : {};
  if (type === "pre-approved") return { type, ...reason };
  if (type === "needs-approval") return { type, by: by === "default" || by === "effects" ? by : "rule", ...reason };
  if (type === "blocked") return { type, why: reason.why ?? "its toolset says so" };
  ignorePromise(own);
  return { type: "blocked", why: "its toolset gave no verdict that is known" };
}

function findRuling(rules: readonly ReadRule[], call: PendingCall, said: Omit<SaidCall, "own">): Ruling | undefined {
  if (rules.length === 0) return undefined;
  const { via } = call.request;
  const own = toRuledCall(call, said);
  const { creators = [] } = call.request.caller;
  if (!via) return ruleOnCreated(rules, creators, own);
  const made = Object.entries(isRecord(via.args) ? via.args : {}).map(([arg, value]) => [arg, [textOfArgument(value)]] as const);
  return ruleOnCreated(rules, creators, own, { tool: via.name, args: new Map(made), first: ["worker"], workers: own.workers });
}

/** The call as rules see it, by the name of its tool. */
export function toRuledCall({ binding, tool, request }: PendingCall, { view, texts: known }: Omit<SaidCall, "own">): RuledCall {
  const { caller, name } = request;
  const special = known ?? settledNow(binding.toolset.ruleTexts?.(view)) ?? {};
  const texts = Object.entries(view.args).map(([arg, value]): [string, readonly RuleText[]] => [arg, [textOfArgument(value)]]);
  const args = new Map([...texts, ...Object.entries(special)]);
  const workers = caller.id === undefined ? [caller.name] : [caller.name, caller.id];
  const first = firstArgument(tool) ?? [...args.keys()];
  const grants = (binding.toolset.grants ?? []).filter((arg) => (args.get(arg) ?? []).length > 0);
  return { tool: name, args, first, workers, canonical: new Set(Object.keys(special)), grants };
}

/** The argument that a pattern without a name speaks of. */
function firstArgument({ input }: Tool): readonly string[] | undefined {
  const [first] = Object.keys((input.jsonSchema["properties"] as object | undefined) ?? {});
  return first === undefined ? undefined : [first];
}

export function describeCall({ binding, request }: PendingCall, { view, isRestored }: PreparedCall): string {
  const named = `${request.name} ${canonicalJson(view.args)}`;
  try {
    return settledNow(binding.toolset.describeCall?.(view)) ?? named;
  } catch (thrown) {
    // A toolset may describe what it found out, which a restored call does not have.
    if (isRestored) return named;
    throw thrown;
  }
}

/** Adds what the question about a call shows: an answer holds for that, and for nothing else. */
export function showCall(call: PendingCall, prepared: PreparedCall, redactor: Redactor): PreparedCall {
  if (prepared.question) return prepared;
  const description = describeCall(call, prepared);
  const preview = settledNow(call.binding.toolset.preview?.(prepared.view));
  // A toolset can say which content the question is about: text that others append to a file meanwhile is none of an append's.
  const shown = prepared.preparation.content?.now ?? [description, preview ?? null];
  const digest = redactor.digest([prepared.digest, shown, placesOf(call)]);
  return { ...prepared, question: { digest, description, preview } };
}

/** The folders that the scopes of the caller stand for, which its questions name by their scopes; those of the program by their path in it. */
export function placesOf({ request }: PendingCall): JsonValue {
  return request.runtime.scopes.declarations.map(({ name, root, realRoot = root, inProgram }) =>
    inProgram === undefined ? [name, realRoot] : [name, null, inProgram],
  );
}

/** Returns what an approval for the run is bound to, beside the arguments. */
export function contentOf({ preparation, carried, question }: PreparedCall): ShownContent {
  return preparation.content ?? { now: [preparation.facts, (question?.preview ?? null) as JsonValue, carried] };
}

/** These hooks are pure and answer at once; a promise is a mistake of the toolset's author. */
function settledNow<T>(value: T): T {
  if (ignorePromise(value)) throw new TypeError("`describeCall`, `preview` and `ruleTexts` of a toolset must not be async");
  return value;
}

function ignorePromise(value: unknown): boolean {
  if (!(value instanceof Promise)) return false;
  value.catch(() => undefined);
  return true;
}

/** True for a tool that waits for calls of its own, which may need the same targets and slots: it holds neither while it executes. */
export function isDelegating({ calls }: Tool): boolean {
  return calls !== undefined;
}

/** True for the call of a worker, which records its own start and end. */
export function isWorkerCall({ tool }: PendingCall, { preparation }: PreparedCall): boolean {
  return isDelegating(tool) && (preparation.sideEffect ?? tool.sideEffect) === false;
}
