import type { CommandRequest } from "../../host/commands.ts";
import { protectionOfName } from "../../host/protected-names.ts";
import type { ResolvedPath, Scopes } from "../../host/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { toolFailure } from "../toolset.ts";
import type { ShellAccess, ShellWork } from "./access.ts";
import type { ShellConfig } from "./config.ts";
import { describeRun, previewRun } from "./describe.ts";
import { lookUpGlobs } from "./judge/look-up-globs.ts";
import { lookUpPaths } from "./judge/look-up-paths.ts";
import { lookUpRepositories } from "./judge/look-up-repositories.ts";
import type { PathTable } from "./judge/path-table.ts";
import { asks, type Reason } from "./judge/reasons.ts";
import { judgeCall } from "./judge/verdict.ts";
import { loadCommandParser } from "./parse/parse-command.ts";

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
  const { networkEnabled, unisolated = false } = access;
  const notIsolated = isolation.type === "none" ? isolation.why : undefined;
  const repositories = await lookUpRepositories(scopes, cwd, { plan, isWalled: notIsolated === undefined });
  const tooMany = isComplete ? [] : [asks("it names too many paths to look at")];
  const reasons = [...judgeFolder(cwd), ...tooMany, ...repositories];
  const judged = judgeCall(config, { plan, table, home, notIsolated, unisolated, reasons });
  const { verdict, opens, started, hint, asksByRule: hooks } = judged;
  const request = toRequest(command, plan.argv, plan.script);
  // A path in another scope that asks is asked about, and so is git where it has files there.
  const openScopes = hooks ? undefined : [cwd.scope.name];
  const planned = { request, cwd, timeoutSeconds, networkEnabled, notIsolated, opens, openScopes, hooks };
  const shown = {
    request: { ...request },
    scopes: [...new Set([...table.values()].map(({ scope }) => scope.name))].sort(),
    isolation: isolation.type,
    network: networkEnabled,
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
    canonicalArgs: { command, timeout: timeoutSeconds, cwd: cwd.virtualPath },
    facts: { ...shown, paths: toFacts(table) },
    // The content of its files is not shown: an approval for the run outlives their changes.
    content: { now: shown },
  };
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
