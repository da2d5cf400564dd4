import type { ModelRequest } from "../../models/model.ts";
import type { ToolDefinition } from "../../protocol/tool.ts";
import type { Usage } from "../../protocol/usage.ts";
import { clipText } from "../../util/text/clip-text.ts";

type Beginning = Pick<ModelRequest, "system" | "tools">;

/** Shown of a line that changed, in characters. */
const longestLine = 80;

const dates =
  /\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2}(?:st|nd|rd|th)?,? \d{4}|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\b(?:jan|febr?)(?:uary)?\b|\b(?:march|april|may|june|july|august|(?:sept|nov|dec)(?:em)?(?:ber)?|octo?(?:ber)?|mar|apr|jun|jul|aug)\b|\b\d{1,2}\b/gi;

/**
 * Compares the beginnings of requests of one worker, which providers have in their caches: tools and system parts. A beginning that
 * changes is sent at full price each time, and often nobody knows that it does.
 */
export class PrefixWatch {
  readonly #last = new Map<string, Beginning & { readonly isCached: boolean }>();
  readonly #reported = new Set<string>();

  /**
   * Notes an answered request. Returns what changed since the worker's last one, in words: once for each worker, and only where the
   * provider had put that one into its cache.
   */
  note(worker: string, { system, tools }: Beginning, usage: Usage): string | undefined {
    const last = this.#last.get(worker);
    const isCached = usage.cachedInputTokens + (usage.cacheWriteTokens ?? 0) > 0;
    this.#last.set(worker, { system, tools, isCached });
    if (!last?.isCached || this.#reported.has(worker)) return undefined;
    const change = findToolChange(last.tools, tools) ?? findTextChange(last.system.join("\n"), system.join("\n"));
    if (change !== undefined) this.#reported.add(worker);
    return change;
  }
}

/** Tools that are offered in addition come last, and llm-do itself adds them. */
function findToolChange(before: readonly ToolDefinition[], now: readonly ToolDefinition[]): string | undefined {
  const index = before.findIndex((tool, at) => at < now.length && JSON.stringify(tool) !== JSON.stringify(now[at]));
  const [old, tool] = [before[index], now[index]];
  if (!old || !tool) return undefined;
  if (old.name === tool.name)
    return `the ${old.description === tool.description ? "input schema" : "description"} of the tool \`${tool.name}\` changed`;
  const names = (tools: readonly ToolDefinition[]) => tools.map(({ name }) => name).sort();
  if (String(names(before)) === String(names(now))) return `the order of the tools changed, from \`${tool.name}\` on`;
  return `the tool \`${tool.name}\` stands where \`${old.name}\` was`;
}

function findTextChange(before: string, now: string): string | undefined {
  if (before === now) return undefined;
  const [old, lines] = [before.split("\n"), now.split("\n")];
  const index = lines.findIndex((line, at) => line !== old[at]);
  const line = lines[index] ?? "";
  const isDate = line.replace(dates, "") === old[index]?.replace(dates, "");
  const shown = `line ${index + 1}: \`${clipText(line, longestLine)}\``;
  const advice = "put what changes into the prompt";
  return isDate
    ? `the instructions hold a date or a time that changed (${shown}); ${advice}`
    : `the instructions changed (${shown}); ${advice}`;
}
