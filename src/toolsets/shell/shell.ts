import { describeScope } from "../../host/scopes/scope-refusals.ts";
import { isPinnedAlone, type Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { failing } from "../results/scope-failure.ts";
import {
  type PreparedToolsetCall,
  type Target,
  type Tool,
  type Toolset,
  type ToolsetScope,
  toolMark,
  toolsetMark,
} from "../toolset.ts";
import type { ShellAccess, ShellWork } from "./access.ts";
import { type ShellConfig, shellConfig } from "./config.ts";
import { describeEffects, effectNames, isLook } from "./effects.ts";
import { narrowRules } from "./narrow-rules.ts";
import { describeRuleEffects } from "./rule-effects.ts";
import { approvalWarnings, shellWarnings } from "./warnings.ts";

/** Programs of the machine, by rules: read by the shell's own grammar, judged command by command, run behind the kernel wall. */
export function createShellToolset({ commands }: Pick<ShellAccess, "commands">): Toolset<ShellConfig> {
  return {
    [toolsetMark]: true,
    name: "shell",
    config: shellConfig,
    requires: ["commands"],
    rules: (config, _written, scope) => [
      ...describeRuleEffects(config),
      ...(hasFolder(scope) ? [] : ["in an empty folder of their own"]),
    ],
    narrow: narrowRules,
    warnings: (config, scope, preApproved) => [
      ...shellWarnings(config, scope),
      ...(preApproved.length > 0 ? approvalWarnings(config) : []),
    ],
    tools: (config, scope) => [toTool(config, scope, { commands, networkEnabled: scope.networkEnabled })],
    targets: ({ args }, { scopes }) => targetsOf(args, scopes),
    prepare: async (call, { scopes, networkEnabled, unisolated = false }) => {
      const hasOwnFolder = isPinnedAlone(scopes.declarations);
      const access = { commands, networkEnabled, unisolated, hasOwnFolder };
      const work = await failing(async () => (await loadWork()).prepareWork(call, await scopes.forCommands(), access));
      const { canonicalArgs, facts, effects, notIsolated } = work;
      const isSafe = isLook(effects) && notIsolated === undefined && !hasOwnFolder;
      // The content of its files is not shown: an approval for the run outlives their changes.
      const content = { now: facts };
      return { canonicalArgs, targets: [], facts, content, ...(isSafe ? { sideEffect: false } : {}), payload: work };
    },
    needsApproval: (call) => workOf(call).verdict,
    judgeRecorded: async ({ args, config, facts }, scopes) => (await loadWork()).judgeAgain({ args, config, facts }, scopes),
    ruleTexts: (call) => {
      const { started, effects } = workOf(call);
      const { writes, opens, reads, network } = effects;
      return { command: started, writes, opens, reads, network: network ? ["true"] : [] };
    },
    grants: effectNames,
    describeCall: (call) => workOf(call).description,
    preview: (call) => workOf(call).preview,
  };
}

/**
 * A look reads all scopes. A line with `>` can write in any folder that the grammar sees, so it waits for all that can be written, as does
 * one whose folders cannot be read.
 */
function targetsOf({ command, writes }: JsonObject, scopes: Scopes): readonly Target[] {
  const names = scopes.readable();
  const writable = new Set(scopes.writable());
  const given = Array.isArray(writes) ? writes.map(String) : [];
  const isOpen = String(command).includes(">");
  const written = given.flatMap((path) => {
    try {
      return scopes.target(path);
    } catch {
      return [];
    }
  });
  const all = names.map((name) => (isOpen && writable.has(name) ? scopes.target(name) : { read: scopes.target(name) }));
  return [...all, ...written];
}

/** The grammar and what is known of programs are loaded by runs that use them. */
async function loadWork() {
  const [{ judgeAgain, prepareWork }, { runPlanned }] = await Promise.all([
    import("./prepare-work.ts"),
    import("./run-planned.ts"),
  ]);
  return { judgeAgain, prepareWork, runPlanned };
}

const timeout = {
  type: "integer",
  minimum: 1,
  maximum: 300,
  default: 30,
  description: "Seconds after which the command is ended.",
} as const;

function toTool(config: ShellConfig, scope: ToolsetScope, access: ShellAccess): Tool {
  const properties = {
    command: { type: "string", minLength: 1, description: "A command line for bash. Quote as bash needs it." },
    timeout,
    cwd: { type: "string", description: `The folder to run in. ${describeFolders(scope)}` },
    ...effectProperties(scope),
  };
  const isAlone = !hasFolder(scope);
  return {
    [toolMark]: true,
    name: "shell",
    description: `Run a command line and get stdout, stderr and exit_code (-1: out of time). ${describeRules(config)}`,
    input: fromJsonSchema({ type: "object", properties, required: ["command"], additionalProperties: false }),
    settlesOnAbort: true,
    // A folder that no scope names is no target.
    ...(isAlone ? { sequential: true } : {}),
    execute: async (args, runtime, payload) =>
      failing(async () => {
        const { signal } = runtime;
        const [{ prepareWork, runPlanned }, scopes] = await Promise.all([loadWork(), runtime.scopes.forCommands()]);
        const hasOwnFolder = isPinnedAlone(runtime.scopes.declarations);
        const own = { ...access, hasOwnFolder };
        const work = (payload as ShellWork | undefined) ?? (await prepareWork({ args, config }, scopes, own));
        return runPlanned(work, access, { scopes, signal });
      }),
  };
}

const names = { type: "array", items: { type: "string", minLength: 1 } } as const;

/** Describes what a call may ask for. */
function effectProperties({ writable, networkEnabled }: ToolsetScope) {
  const places = writable.map(describeScope).join(", ") || "nothing";
  const none = "A command without these changes nothing: it can write in /tmp alone.";
  return {
    writes: { ...names, description: `Folders that the command writes in: ${places}, or folders in them. ${none}` },
    opens: { ...names, description: "Protected names in these folders that it writes: .git, package.json, …" },
    reads: { ...names, description: "Scopes that ask before they are read, or hold certain suffixes alone." },
    scratch: {
      type: "boolean",
      description: "It writes wherever it likes, and all of it is thrown away: for tests and trials. Not beside `writes`.",
    },
    ...(networkEnabled ? { network: { type: "boolean", description: "Whether it uses the network." } } : {}),
  };
}

/** Lists the patterns, so that a model knows before it tries. */
function describeRules({ rules, default: standard, looks }: ShellConfig): string {
  const shown = rules
    .filter(({ blocked }) => blocked !== true)
    .map((rule) => {
      return isLook(rule) ? `\`${rule.pattern}\`` : `\`${rule.pattern}\` (${describeEffects(rule)})`;
    });
  const free = looks === "allowed" ? "What changes nothing needs no rule. " : "";
  const covered = shown.length === 0 ? "" : `Commands that begin so are covered: ${[...new Set(shown)].join(", ")}. `;
  return standard === undefined
    ? `${free}${covered}All others are blocked.`
    : `${free}${covered}Others may need a person's approval.`;
}

function workOf(call: PreparedToolsetCall<ShellConfig>): ShellWork {
  return call.preparation.payload as ShellWork;
}

/** Lists the folders in which a command can run. */
function describeFolders(scope: ToolsetScope): string {
  const { readable: names } = scope;
  const others = names.length === 0 ? "" : ` cwd can be a folder of ${names.map(describeScope).join(", ")}, too.`;
  if (!hasFolder(scope))
    return `Commands have an empty folder of their own, which is removed when you are done; default: that.${others}`;
  const standard = names.includes(".") ? "." : names[0];
  return `cwd is a folder of ${names.map(describeScope).join(", ")}; default: ${standard}.`;
}

/** False if the files of skills are all that commands see: they run in a folder of their own then. */
function hasFolder({ readable, pinned = [] }: ToolsetScope): boolean {
  return readable.some((name) => !pinned.includes(name));
}
