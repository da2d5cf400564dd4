import type { CommandRequest, Isolation } from "../../host/commands.ts";
import { isPinnedAlone, type ResolvedPath, type Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { folderIdentity } from "../folder-identity.ts";
import { type OwnVerdict, toolFailure } from "../toolset.ts";
import type { ShellAccess, ShellWork } from "./access.ts";
import type { ShellConfig } from "./config.ts";
import { describeRun, previewRun } from "./describe.ts";
import { type Effects, isLook, toEffectArgs } from "./effects.ts";
import { startsOf } from "./judge/starts.ts";
import { findPlainReads } from "./judge/unwalled.ts";
import { judgeCall } from "./judge/verdict.ts";
import { loadCommandParser } from "./parse/parse-command.ts";
import type { ShellPlan, ShellWord } from "./parse/plan.ts";
import { coversCommand, parsePattern } from "./patterns.ts";
import { readEffects } from "./read-effects.ts";

export interface PlannedCall {
  readonly args: JsonObject;
  readonly config: ShellConfig;
}

/** Reads the command and the effects that it asks for, and judges them. Starts nothing. */
export async function prepareWork({ args, config }: PlannedCall, scopes: Scopes, access: ShellAccess): Promise<ShellWork> {
  const command = String(args["command"]);
  const timeoutSeconds = Number(args["timeout"] ?? 30);
  const cwd = await findFolder(scopes, args["cwd"]);
  const parse = await loadCommandParser();
  const plan = parse(command, [cwd.components]);
  const { networkEnabled, unisolated = false, hasOwnFolder = false } = access;
  // What a command writes in a folder of its own is gone with the call of its worker.
  const given = hasOwnFolder ? { ...args, writes: [] } : args;
  const asked = await readEffects(given, {
    scopes,
    networkEnabled,
    cwd,
    plan: hasOwnFolder ? { ...plan, commands: [] } : plan,
  });
  const effects = await withLayers(asked, { config, plan, commands: access.commands });
  const isolation = await access.commands.isolation();
  const notIsolated = whyNotIsolated(isolation);
  const plainReads = notIsolated && unisolated ? await findPlainReads(scopes, cwd.scope.name, plan) : new Set<never>();
  const home = standardScope(scopes);
  const judged = { config, plan, effects, scopes, scope: cwd.scope, home, notIsolated, unisolated, plainReads };
  const { verdict, started } = judgeCall(judged);
  const request = toRequest(command, plan.argv, plan.script);
  const writes = (hasOwnFolder ? ["."] : effects.writes).map((path) => scopes.resolve(path));
  const planned = { request, cwd, timeoutSeconds, effects, writes, notIsolated };
  const folders = hasOwnFolder ? [] : await Promise.all(writes.map(({ scope }) => folderIdentity(scopes, scope)));
  return {
    ...planned,
    verdict,
    started: started.length > 0 ? started : [command],
    description: describeRun(planned),
    preview: previewRun(planned, plan),
    canonicalArgs: { command, timeout: timeoutSeconds, cwd: cwd.virtualPath, ...toEffectArgs(effects) },
    facts: { request: { ...request }, isolation: isolation.type, ...(folders.length > 0 ? { folders } : {}) },
  };
}

/**
 * Returns the verdict of today on a call that was recorded as `prepareWork` found it. Undefined if it was not isolated, or had a folder of
 * its own: what it reads there cannot be looked up.
 */
export async function judgeAgain(
  { args, config, facts }: PlannedCall & { readonly facts: JsonObject },
  scopes: Scopes,
): Promise<OwnVerdict | undefined> {
  const isIsolated = !["none", "seatbelt"].includes(String(facts["isolation"]));
  if (!isIsolated || isPinnedAlone(scopes.declarations)) return undefined;
  const { command, cwd, writes = [], opens = [], reads = [], network = false, scratch = false } = args;
  const { scope, components } = scopes.resolve(String(cwd));
  const plan = (await loadCommandParser())(String(command), [components]);
  const effects = { writes, opens, reads, network, scratch } as Effects;
  const [home, plainReads] = [standardScope(scopes), new Set<never>()];
  return judgeCall({ config, plan, effects, scopes, scope, home, plainReads, notIsolated: undefined, unisolated: false }).verdict;
}

/** A rule can give layers to calls that ask for no effect. Throws a `ToolFailure` if a call asks for layers and there are none. */
async function withLayers(
  effects: Effects,
  { config, plan, commands }: { config: ShellConfig; plan: ShellPlan; commands: ShellAccess["commands"] },
): Promise<Effects> {
  const isMeant = isLook(effects) && !effects.scratch && startsOf(plan).some(({ words }) => firstRule(config, words)?.scratch);
  if (!effects.scratch && !isMeant) return effects;
  const hasLayers = (await commands.layers?.()) === true;
  if (!hasLayers && effects.scratch)
    throw toolFailure("invalid_arguments", "There is no `scratch` on this machine: it mounts no layers.");
  return { ...effects, scratch: hasLayers };
}

function firstRule({ rules }: ShellConfig, words: readonly ShellWord[]) {
  return rules.find(({ pattern }) => coversCommand(parsePattern(pattern), words));
}

/** The other wall has not passed the tests of effects. */
function whyNotIsolated(isolation: Isolation): string | undefined {
  if (isolation.type === "none") return isolation.why;
  return isolation.type === "seatbelt" ? "that this system's sandbox holds effects was not tested" : undefined;
}

/** The command as it was read, or else the text as it stands. */
function toRequest(command: string, argv: readonly string[] | undefined, script: string | undefined): CommandRequest["command"] {
  if (argv !== undefined) return { type: "argv", argv: [...argv] };
  return { type: "bash", script: script ?? command };
}

/** Commands run in it by default. */
function standardScope(scopes: Scopes): string | undefined {
  const names = scopes.readable();
  return names.includes(".") ? "." : names[0];
}

async function findFolder(scopes: Scopes, given: unknown): Promise<ResolvedPath> {
  const path = given === undefined ? standardScope(scopes) : String(given);
  if (path === undefined) throw toolFailure("path_outside_scope", "This worker has no folder to run commands in.");
  const resolved = scopes.resolve(path);
  const facts = await scopes.facts(resolved.virtualPath);
  if (facts.type !== "directory") throw toolFailure("not_a_directory", `"${resolved.virtualPath}" is not a folder.`);
  // The deepest scope: its name and its rights hold for what the command names.
  return scopes.resolve(facts.virtualPath);
}
