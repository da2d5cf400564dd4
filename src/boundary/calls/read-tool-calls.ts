import { expandWhole } from "../../journal/expand-texts.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { ProgramOfRun, RunStore } from "../../journal/stores/store.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";

/** One recorded execution of a tool. */
export interface RecordedToolCall {
  /** `RUN/CALL_PATH`. */
  readonly from: string;
  readonly input: JsonObject;
  /** Undefined if it threw, or gave what cannot be recorded. */
  readonly output: JsonValue | undefined;
}

/** The most calls that are read. */
const mostCalls = 1_000;

/** Reads the newest 1,000 calls of a tool, each input once. Calls that were not executed, and those with a secret, are left out. */
export async function readToolCalls(
  store: RunStore,
  { tool, program }: { readonly tool: string; readonly program: ProgramOfRun },
): Promise<readonly RecordedToolCall[]> {
  const calls = new Map<string, RecordedToolCall>();
  for await (const { id } of store.list({ program })) {
    const found = await store
      .look(id, async (record) => {
        const { entries } = await readJournal(record);
        const paths = new Set(entries.flatMap((one) => (one.type === "verdict" && one.tool === tool ? [one.callPath] : [])));
        const own = entries.filter(
          (one) => (one.type === "verdict" || (one.type === "result" && one.kind === "tool")) && paths.has(one.callPath),
        );
        return expandWhole(record, own);
      })
      // A run that cannot be read says nothing of the tool.
      .catch(() => []);
    for (const call of callsIn(id, found)) {
      const key = canonicalJson(call.input);
      if (!calls.has(key)) calls.set(key, call);
      if (calls.size >= mostCalls) return [...calls.values()];
    }
  }
  return [...calls.values()];
}

function callsIn(run: string, entries: readonly JournalEntry[]): readonly RecordedToolCall[] {
  const inputs = new Map<CallPath, JsonObject>();
  return entries.flatMap((entry) => {
    if (entry.type === "verdict") inputs.set(entry.callPath, entry.args);
    const input = entry.type === "result" ? inputs.get(entry.callPath) : undefined;
    if (entry.type !== "result" || !input) return [];
    const { outcome, callPath } = entry;
    const result = outcome.type === "value" && isRecord(outcome.value) ? (outcome.value as JsonObject) : undefined;
    const error = isRecord(result?.["error"]) ? result["error"]["type"] : undefined;
    if (!result || (result["ok"] !== true && error !== "tool_failed" && error !== "output_invalid")) return [];
    const output = result["ok"] === true ? (result["value"] ?? null) : undefined;
    if (canonicalJson([input, output ?? null]).includes("⟦secret:")) return [];
    return [{ from: `${run}/${callPath}`, input, output }];
  });
}
