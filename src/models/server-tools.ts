import type { ServerTool, ServerToolType } from "../protocol/tool.ts";

/** A key that bounds a tool which the provider executes. */
export type ServerToolBound = Exclude<keyof ServerTool, "type">;

/** The server-side tools that the models of a provider can have, each with the bounds that the provider keeps. */
export type ServerToolSupport = Readonly<Partial<Record<ServerToolType, readonly ServerToolBound[]>>>;

/** The reason why a provider's models cannot have a tool as it is written. `bound`: only this key of it is wrong. */
export interface ServerToolRefusal {
  readonly bound?: ServerToolBound;
  readonly message: string;
  readonly hint: string;
}

/** Returns undefined if the models can have it. */
export function refuseServerTool(
  tool: ServerTool,
  { name, serverTools = {} }: { readonly name: string; readonly serverTools?: ServerToolSupport },
): ServerToolRefusal | undefined {
  const bounds = serverTools[tool.type];
  if (!bounds) {
    const known = Object.keys(serverTools).map((type) => `\`${type}\``);
    const hint = known.length > 0 ? `there it has: ${known.join(", ")}` : "models of this provider have no server-side tools";
    return { message: `the provider \`${name}\` has no \`${tool.type}\``, hint };
  }
  const keys = ["max_uses", "allowed_domains", "blocked_domains"] as const;
  const unkept = keys.find((key) => tool[key] !== undefined && !bounds.includes(key));
  if (!unkept) return undefined;
  const hint = "delete it, or choose a model of a provider that keeps to it";
  return { bound: unkept, message: `the provider \`${name}\` does not keep to \`${unkept}\` of \`${tool.type}\``, hint };
}
