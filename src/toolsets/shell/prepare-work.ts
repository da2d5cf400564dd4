import type { CommandRequest } from "../../host/commands.ts";
import { protectionOfName } from "../../host/protected-names.ts";
import type { ResolvedPath, Scopes } from "../../host/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { needsApproval, toolFailure } from "../toolset.ts";
import type { ShellAccess, ShellWork } from "./access.ts";
import type { ShellConfig } from "./config.ts";
import { describeRun, previewRun } from "./describe.ts";
import { describeEffects, type Effects, effectNames, isLook, toEffectArgs } from "./effects.ts";
import { lookUpGlobs } from "./judge/look-up-globs.ts";
import { lookUpPaths } from "./judge/look-up-paths.ts";
import { lookUpRepositories } from "./judge/look-up-repositories.ts";
import type { PathTable } from "./judge/path-table.ts";
import { asks, type Reason } from "./judge/reasons.ts";
import { type Judgement, judgeCall } from "./judge/verdict.ts";
import { loadCommandParser } from "./parse/parse-command.ts";
import type { ShellPlan } from "./parse/plan.ts";
import { readEffects } from "./read-effects.ts";

export interface PlannedCall {
  readonly args: JsonObject;
  readonly config: ShellConfig;
}

/** Reads the command, and looks at the folder and the paths that it names. Starts nothing. */
export async function prepareWork({ args, config }: PlannedCall, scopes: Scopes, access: ShellAccess): Promise<ShellWork> {
  const command = String(args["command"]);
  const timeoutSeconds = Number(args["timeout"] ?? 30);
  const cwd = await findFolder(scopes, args["cwd"]);
  const home = args["cwd"] === undefined ? cwd.scope : scopes.declarations.find(({ name }) => name === standardScope(scopes));
  const parse = await loadCommandParser();
  const read = parse(command, [cwd.components]);
  const expansions = await lookUpGlobs(scopes, cwd, read);
  const plan = expansions.size === 0 ? read : parse(command, [cwd.components], expansions);
  const { table, isComplete } = await lookUpPaths(scopes, cwd, plan);
  const isolation = await access.commands.isolation();
  const { networkEnabled } = access;
  const { unisolated = false } = access;
  const notIsolated = isolation.type === "none" ? isolation.why : undefined;
  const repositories = await lookUpRepositories(scopes, cwd, { plan, isWalled: notIsolated === undefined });
  const tooMany = isComplete ? [] : [asks("it names too many paths to look at")];
  const reasons = [...judgeFolder(cwd), ...tooMany, ...repositories];
  const judged = judgeCall(config, { plan, table, home, notIsolated, unisolated, reasons });
  const { started, hint } = judged;
  const effects = effectNames.some((name) => args[name] !== undefined)
    ? await readEffects(args, { scopes, networkEnabled, cwd, plan })
    : undefined;
  const { verdict, opens, asksByRule: hooks } = effects === undefined ? judged : judgeEffects(effects, judged, plan);
  const request = toRequest(command, plan.argv, plan.script);
  // A path in another scope that asks is asked about, and so is git where it has files there.
  const openScopes = hooks ? undefined : [cwd.scope.name];
  const writes = (effects?.writes ?? []).map((path) => scopes.resolve(path));
  const network = effects?.network ?? networkEnabled;
  const planned = {
    request,
    cwd,
    timeoutSeconds,
    networkEnabled: network,
    effects,
    writes,
    notIsolated,
    opens,
    openScopes,
    hooks,
  };
  const shown = {
    request: { ...request },
    scopes: [...new Set([...table.values()].map(({ scope }) => scope.name))].sort(),
    isolation: isolation.type,
    network,
    opens,
    hooks,
    repositories: repositories.map(({ why, basis = null }) => [why, basis]),
  };
  return {
    ...planned,
    verdict,
    ...(hint === undefined ? {} : { hint }),
    started: started.length > 0 ? started : [command],
    description: describeRun(planned),
    preview: previewRun(planned, plan),
    canonicalArgs: { command, timeout: timeoutSeconds, cwd: cwd.virtualPath, ...canonicalEffects(effects) },
    facts: { ...shown, paths: toFacts(table) },
    // The content of its files is not shown: an approval for the run outlives their changes.
    content: { now: shown },
    isLook: effects !== undefined && isLook(effects) && notIsolated === undefined,
  };
}

function canonicalEffects(effects: Effects | undefined): JsonObject {
  return effects === undefined ? {} : { writes: [], ...toEffectArgs(effects) };
}

/** What a call asks for by name is put to a person. */
function judgeEffects(effects: Effects, { verdict }: Judgement, { refused }: ShellPlan) {
  const { opens } = effects;
  const own = refused === undefined ? needsApproval(describeEffects(effects), "rule") : verdict;
  return { verdict: own, opens, asksByRule: opens.includes(".git/hooks") };
}

/** The command as it was read, or else the text as it stands, which is never run without a question. */
function toRequest(command: string, argv: readonly string[] | undefined, script: string | undefined): CommandRequest["command"] {
  if (argv !== undefined) return { type: "argv", argv: [...argv] };
  return { type: "bash", script: script ?? command };
}

function toFacts(table: PathTable): JsonObject {
  return Object.fromEntries([...table].map(([key, { type, scope, identity }]) => [key, [type, scope.name, identity]]));
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

function judgeFolder({ components, virtualPath, scope }: ResolvedPath): readonly Reason[] {
  return [
    ...(protectionOfName(components) === undefined ? [] : [asks(`it runs in ${virtualPath}, which is a protected name`)]),
    ...(scope.readApproval === true ? [asks(`it runs in ${virtualPath}: read_approval of the scope ${scope.name}`)] : []),
  ];
}
