import type { CallPath } from "../../protocol/call.ts";

/** `main > pitch_evaluator#1`: the calls from the entry down, with their ordinals. */
export function callLabel(callPath: CallPath): string {
  return callPath
    .split("/")
    .map((id) => id.replace(/^(\d+)\.(.*)$/, "$2#$1"))
    .join(" > ");
}

/** `write_file#2`. */
export function lastLabel(path: CallPath): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/^(\d+)\.(.*)$/, "$2#$1");
}

export function depthOf(path: CallPath): number {
  return path.split("/").length - 1;
}
