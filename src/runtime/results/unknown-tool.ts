import { type ToolFailure, toolFailure } from "../../toolsets/toolset.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";

/** Told to whoever calls a tool that is none of `names`. */
export function unknownTool(name: string, names: readonly string[]): ToolFailure {
  const near = nearestNames(name, names).map((one) => `\`${one}\``);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `there are: ${names.join(", ") || "no tools at all"}`;
  return toolFailure("unknown_tool", `there is no tool \`${name}\``, hint);
}
