import type { Forecast, ForecastCall } from "../../protocol/forecast.ts";
import type { Outline, OutlinedCallable, OutlinedTool, OutlinedWorker } from "../../protocol/outline.ts";

/**
 * Lists what an unattended run would be denied: every reachable tool whose calls are not simply allowed. `notIsolated`:
 * why programs cannot be isolated where the run would be, unless its caller accepts that.
 */
export function forecast(outline: Outline, { notIsolated }: { readonly notIsolated?: string | undefined } = {}): Forecast {
  const { workers, ceiling, entry, callables, approval = "prompt" } = outline;
  const reached = workers.filter(({ id }) => ceiling.workers.includes(id));
  const byName = new Map(callables.map((callable) => [callable.name, callable]));
  const ofEntry = entry.kind === "code" ? callsOfCode(entry.name, [...byName.keys()], byName) : [];
  const calls = [...ofEntry, ...reached.flatMap((worker) => callsOf(worker, byName, notIsolated))];
  return { v: 1, approval, calls: withoutRepetitions(calls) };
}

type Callables = ReadonlyMap<string, OutlinedCallable>;

function callsOf(
  { name: caller, toolsets }: OutlinedWorker,
  callables: Callables,
  notIsolated: string | undefined,
): ForecastCall[] {
  return toolsets.flatMap(({ reference, kind, tools, startsPrograms }) => {
    if (kind === "unverified") {
      return [{ caller, tool: reference, verdict: "unverified" as const, why: "its code was not looked at" }];
    }
    const bare = startsPrograms ? notIsolated : undefined;
    return tools.flatMap((tool) => [...callsOfTool(caller, tool, bare), ...callsOfCode(caller, tool.calls ?? [], callables)]);
  });
}

/** `bare`: why the programs that it starts cannot be isolated. */
function callsOfTool(caller: string, { name: tool, plan, allow }: OutlinedTool, bare: string | undefined): ForecastCall[] {
  const { verdict, why } = plan;
  if (verdict === "allowed") return [];
  if (verdict === "depends" && bare !== undefined)
    return [{ caller, tool, verdict: "asks", why: `programs are not isolated on this machine: ${bare}` }];
  return [{ caller, tool, verdict, why, ...(allow === undefined ? {} : { allow }) }];
}

/** Through tools that call tools, too. No file pre-approves what code calls. */
function callsOfCode(caller: string, names: readonly string[], callables: Callables): ForecastCall[] {
  const reached = new Set(names);
  const found: ForecastCall[] = [];
  for (const name of reached) {
    const callable = callables.get(name);
    for (const called of callable?.calls ?? []) reached.add(called);
    if (!callable || callable.plan.verdict === "allowed") continue;
    const { verdict, why } = callable.plan;
    const approve = verdict === "blocked" ? {} : { approve: `${caller}/${name}` };
    found.push({ caller, tool: name, verdict, why: `called by code; ${why}`, ...approve });
  }
  return found;
}

function withoutRepetitions(calls: readonly ForecastCall[]): ForecastCall[] {
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}
