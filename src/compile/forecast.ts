import type { Forecast, ForecastCall } from "../protocol/forecast.ts";
import type { Outline, OutlinedCallable, OutlinedWorker } from "../protocol/outline.ts";

/** What a run that can ask nobody would be denied: every tool that the entry reaches and whose calls do not simply run. */
export function forecast({ workers, ceiling, entry, callables, approval = "prompt" }: Outline): Forecast {
  const reached = workers.filter(({ id }) => ceiling.workers.includes(id));
  const byName = new Map(callables.map((callable) => [callable.name, callable]));
  const ofEntry = entry.kind === "code" ? callsOfCode(entry.name, [...byName.keys()], byName) : [];
  const calls = [...ofEntry, ...reached.flatMap((worker) => callsOf(worker, byName))];
  return { v: 1, approval, calls: withoutRepetitions(calls) };
}

type Callables = ReadonlyMap<string, OutlinedCallable>;

function callsOf({ name: caller, toolsets }: OutlinedWorker, callables: Callables): ForecastCall[] {
  return toolsets.flatMap(({ reference, kind, tools }) => {
    if (kind === "unverified") {
      return [{ caller, tool: reference, verdict: "unverified" as const, why: "its code was not looked at" }];
    }
    return tools.flatMap(({ name, plan, allow, calls = [] }) => [
      ...(plan.verdict === "allowed"
        ? []
        : [{ caller, tool: name, verdict: plan.verdict, why: plan.why, ...(allow === undefined ? {} : { allow }) }]),
      ...callsOfCode(caller, calls, callables),
    ]);
  });
}

/** Through tools that call tools, too. No file pre-approves what code calls. */
function callsOfCode(caller: string, names: readonly string[], callables: Callables): ForecastCall[] {
  const reached = new Set(names);
  const found: ForecastCall[] = [];
  for (const name of reached) {
    const callable = callables.get(name);
    for (const called of callable?.calls ?? []) reached.add(called);
    if (!callable || callable.plan.verdict === "allowed") continue;
    found.push({ caller, tool: name, verdict: callable.plan.verdict, why: `called by code; ${callable.plan.why}` });
  }
  return found;
}

function withoutRepetitions(calls: readonly ForecastCall[]): ForecastCall[] {
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}
