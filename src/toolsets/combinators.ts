import { getOwn } from "../util/get-own.ts";
import { matchesFlatGlob } from "../util/text/flat-glob.ts";
import { isToolset, needsApproval, type OwnVerdict, type PreparedToolsetCall, type Tool, type Toolset } from "./toolset.ts";

/**
 * Puts a prefix and an underscore before the name of each tool. The toolset keeps its own names: its hooks see them.
 * Throws a `TypeError` for what is no toolset, as all combinators do.
 */
export function prefix<Config>(toolset: Toolset<Config>, text: string): Toolset<Config> {
  return renamed(toolset, (name) => `${text}_${name}`);
}

/** Keeps the tools whose names match one of the globs, or that the function returns true for. */
export function filter<Config>(toolset: Toolset<Config>, keep: readonly string[] | ((name: string) => boolean)): Toolset<Config> {
  const isKept = typeof keep === "function" ? keep : (name: string) => keep.some((glob) => matchesFlatGlob(glob, name));
  return renamed(toolset, (name) => (isKept(name) ? name : undefined));
}

/** Gives tools other names, by their own. Tools that are not named keep theirs. */
export function rename<Config>(toolset: Toolset<Config>, names: Readonly<Record<string, string>>): Toolset<Config> {
  return renamed(toolset, (name) => getOwn(names, name) ?? name);
}

/**
 * Adds a verdict: the stricter one of this and the toolset's own holds, so that it can ask or block, and never grant. `judge` is pure.
 * Undefined: the toolset's own.
 */
export function approve<Config>(
  toolset: Toolset<Config>,
  judge: (call: PreparedToolsetCall<Config>) => OwnVerdict | undefined,
): Toolset<Config> {
  checkToolset(toolset);
  const authors = new Map<string, Tool["approval"]>();
  const note = (tools: readonly Tool[]): readonly Tool[] => {
    // Two configurations may list tools of one name: the stricter author counts.
    for (const { name, approval } of tools)
      authors.set(name, authors.has(name) && authors.get(name) !== approval ? "ask" : approval);
    return tools;
  };
  const ownVerdict = (call: PreparedToolsetCall<Config>): OwnVerdict => {
    if (toolset.needsApproval) return toolset.needsApproval(call) ?? unstated;
    return authors.get(call.tool) === "pre-approved" ? { type: "pre-approved", why: "its author pre-approves it" } : unstated;
  };
  const { outlook: _, judgeRecorded: __, connect, ...rest } = toolset;
  return Object.freeze({
    ...rest,
    tools: (config, scope) => note(toolset.tools(config, scope)),
    ...(connect && {
      connect: async (config, access) => {
        const connection = await connect(config, access);
        note(connection.tools);
        return connection;
      },
    }),
    needsApproval: (call) => stricter(ownVerdict(call), judge(call)),
  } satisfies Toolset<Config>);
}

const unstated = needsApproval();

function stricter(own: OwnVerdict, added: OwnVerdict | undefined): OwnVerdict {
  return added !== undefined && strictness(added) > strictness(own) ? added : own;
}

/** A value that is no verdict blocks: the gate says so. */
function strictness(verdict: OwnVerdict): number {
  if (verdict.type === "pre-approved") return 0;
  if (verdict.type === "needs-approval") return verdict.by === "default" ? 1 : 2;
  return 3;
}

function checkToolset(value: unknown): void {
  if (!isToolset(value))
    throw new TypeError("only toolsets can be combined, as `toolset()` makes them and before they are gated");
}

/** A toolset whose tools have other names outside. Undefined: the tool is left out. */
function renamed<Config>(toolset: Toolset<Config>, nameOf: (name: string) => string | undefined): Toolset<Config> {
  checkToolset(toolset);
  const inside = new Map<string, string>();
  const outside = (tools: readonly Tool[]): readonly Tool[] =>
    tools.flatMap((tool) => {
      const name = nameOf(tool.name);
      if (name === undefined) return [];
      const other = inside.get(name);
      if (other !== undefined && other !== tool.name)
        throw new TypeError(`\`${other}\` and \`${tool.name}\` of the toolset \`${toolset.name}\` would both be \`${name}\``);
      inside.set(name, tool.name);
      return [name === tool.name ? tool : Object.freeze({ ...tool, name })];
    });
  const own = <Call extends { readonly tool: string }>(call: Call): Call => ({
    ...call,
    tool: inside.get(call.tool) ?? call.tool,
  });
  const { connect, targets, prepare, needsApproval: judge, judgeRecorded, outlook, ruleTexts, describeCall, preview } = toolset;
  return Object.freeze({
    ...toolset,
    tools: (config, scope) => outside(toolset.tools(config, scope)),
    ...(connect && {
      connect: async (config, access) => {
        const connection = await connect(config, access);
        return {
          ...connection,
          tools: outside(connection.tools),
          ...(connection.close && { close: () => connection.close?.() ?? Promise.resolve() }),
        };
      },
    }),
    ...(targets && { targets: (call, access) => targets(own(call), access) }),
    ...(prepare && { prepare: (call, access) => prepare(own(call), access) }),
    ...(judge && { needsApproval: (call) => judge(own(call)) }),
    ...(judgeRecorded && { judgeRecorded: (call, scopes) => judgeRecorded(own(call), scopes) }),
    ...(outlook && { outlook: (tool, config, scopes) => outlook(inside.get(tool) ?? tool, config, scopes) }),
    ...(ruleTexts && { ruleTexts: (call) => ruleTexts(own(call)) }),
    ...(describeCall && { describeCall: (call) => describeCall(own(call)) }),
    ...(preview && { preview: (call) => preview(own(call)) }),
  } satisfies Toolset<Config>);
}
