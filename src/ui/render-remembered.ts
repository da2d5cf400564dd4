import type { JsonObject } from "../protocol/json.ts";
import { clipText } from "../util/clip-text.ts";
import { show } from "./explain/phrases.ts";
import { wrapWords } from "./wrap-text.ts";

interface Remembered {
  readonly worker: string;
  readonly tool: string;
  readonly args: JsonObject;
}

const longestArguments = 300;

/** Lists what was approved for a run, numbered from 1. */
export function renderRemembered(calls: readonly Remembered[], columns: number): string {
  if (calls.length === 0) return "Nothing is approved for this run.";
  const lines = calls.flatMap(({ worker, tool, args }, index) => {
    const text = `${index + 1}. ${show(worker)} > ${show(tool)} ${show(clipText(JSON.stringify(args), longestArguments, "..."))}`;
    return wrapWords(text, columns - 6).map((line, row) => `  ${row === 0 ? "" : "   "}${line}`);
  });
  return ["Approved for this run:", ...lines].join("\n");
}
