import type { JsonObject } from "../protocol/json.ts";
import type { ServerTool } from "../protocol/tool.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { needsApproval, type PreparedToolsetCall, type Tool, toolMark, toolsetMark } from "./toolset.ts";

/** Whose tools they are. */
export interface ServerToolUser {
  readonly name: string;
  readonly model: { readonly recorded: string } | undefined;
  readonly serverTools: readonly ServerTool[];
}

/**
 * The tools that a worker's provider executes, as far as the gate has a say: as tools that enable them, `server:TYPE`, to be
 * called once in a run. Their own calls never come by here.
 */
export function serverSideTools(user: ServerToolUser) {
  const verdict = needsApproval("executed by the provider and not gated call by call: enabling it asks, once for the run");
  const tools = user.serverTools.map(enablingTool);
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name: "server_side_tools",
    tools: () => tools,
    outlook: () => [verdict],
    needsApproval: () => verdict,
    describeCall: ({ tool: name }: PreparedToolsetCall) => {
      const tool = user.serverTools.find((one) => enablingName(one) === name);
      return `Enable for the worker ${user.name}, on ${user.model?.recorded ?? "its model"}: ${tool ? describeServerTool(tool) : name}`;
    },
  });
  const approvals: ReadonlyMap<string, boolean> = new Map();
  return { reference: "server_side_tools", toolset, config: undefined, approvals, tools, fromCode: true } as const;
}

/** A call that enables a tool: its arguments are the bounds, and the model whose provider executes it. */
export function enablingCall({ type, ...bounds }: ServerTool, { model }: ServerToolUser): { name: string; args: JsonObject } {
  return { name: `server:${type}`, args: { ...bounds, ...(model ? { model: model.recorded } : {}) } };
}

/** `web_search, at most 3 times in a call, on example.com alone`. */
export function describeServerTool({ type, max_uses, allowed_domains, blocked_domains }: ServerTool): string {
  return [
    type,
    ...(max_uses === undefined ? [] : [`at most ${max_uses} ${max_uses === 1 ? "time" : "times"} in a call`]),
    ...(allowed_domains ? [`on ${allowed_domains.join(", ")} alone`] : []),
    ...(blocked_domains ? [`on all hosts but ${blocked_domains.join(", ")}`] : []),
  ].join(", ");
}

function enablingName({ type }: ServerTool): string {
  return `server:${type}`;
}

function enablingTool(tool: ServerTool): Tool {
  return {
    [toolMark]: true,
    name: enablingName(tool),
    description: describeServerTool(tool),
    input: fromJsonSchema({ type: "object" }),
    sideEffect: false,
    execute: () => null,
  };
}
