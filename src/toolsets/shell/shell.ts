import { describeScope } from "../../host/scope-refusals.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { failing } from "../scope-failure.ts";
import { type PreparedToolsetCall, type Tool, type Toolset, type ToolsetScope, toolMark, toolsetMark } from "../toolset.ts";
import type { ShellAccess, ShellWork } from "./access.ts";
import { type ShellConfig, shellConfig } from "./config.ts";
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
      ...describeRuleEffects(config, scope),
      ...(scope.readable.length === 0 ? ["in an empty folder of their own"] : []),
    ],
    narrow: narrowRules,
    warnings: (config, { readable }, preApproved) => [
      ...shellWarnings(config, readable),
      ...(preApproved.length > 0 ? approvalWarnings(config) : []),
    ],
    tools: (config, scope) => [toTool(config, scope, { commands, networkEnabled: scope.networkEnabled })],
    // Nobody knows what a command writes: it can reach every scope of its worker.
    targets: (_call, { scopes }) => {
      const writable = new Set(scopes.writable());
      return scopes.readable().map((name) => (writable.has(name) ? scopes.target(name) : { read: scopes.target(name) }));
    },
    prepare: async (call, { scopes, networkEnabled, unisolated = false }) => {
      const access = { commands, networkEnabled, unisolated };
      const work = await failing(async () => (await loadWork()).prepareWork(call, await scopes.forCommands(), access));
      const { canonicalArgs, facts, content, hint } = work;
      const more = { ...(hint === undefined ? {} : { hint }), ...(work.isLook ? { sideEffect: false } : {}) };
      return { canonicalArgs, targets: [], facts, content, ...more, payload: work };
    },
    needsApproval: (call) => workOf(call).verdict,
    ruleTexts: (call) => ({ command: workOf(call).started }),
    describeCall: (call) => workOf(call).description,
    preview: (call) => workOf(call).preview,
  };
}

/** The grammar and what is known of programs are loaded by runs that use them. */
async function loadWork() {
  const [{ prepareWork }, { runPlanned }] = await Promise.all([import("./prepare-work.ts"), import("./run-planned.ts")]);
  return { prepareWork, runPlanned };
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
    cwd: { type: "string", description: `The folder to run in. ${describeFolders(scope.readable)}` },
    ...effectProperties(scope),
  };
  const isAlone = scope.readable.length === 0;
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
        const work = (payload as ShellWork | undefined) ?? (await prepareWork({ args, config }, scopes, access));
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
    ...(networkEnabled ? { network: { type: "boolean", description: "Whether it uses the network." } } : {}),
  };
}

/** Lists the patterns, so that a model knows before it tries. */
function describeRules({ rules, default: standard }: ShellConfig): string {
  const patterns = [...new Set(rules.map(({ pattern }) => `\`${pattern}\``))].join(", ");
  const covered = patterns === "" ? "" : `Commands that begin so are covered: ${patterns}. `;
  return standard === undefined ? `${covered}All others are blocked.` : `${covered}Others may need a person's approval.`;
}

function workOf(call: PreparedToolsetCall<ShellConfig>): ShellWork {
  return call.preparation.payload as ShellWork;
}

/** Lists the folders in which a command can run. */
function describeFolders(names: readonly string[]): string {
  const [first] = names;
  if (first === undefined)
    return "Commands have an empty folder of their own, which is removed when you are done; default: that.";
  const standard = names.includes(".") ? "." : first;
  return `cwd is a folder of ${names.map(describeScope).join(", ")}; default: ${standard}.`;
}
