import type { Forecast, ForecastCall } from "../protocol/forecast.ts";
import { counted, show } from "./explain/phrases.ts";
import { wrapWords } from "./text/wrap-text.ts";

/** Renders what an unattended run would be denied. Lines of configuration are not wrapped, so that they can be copied. */
export function renderForecast({ calls }: Forecast, columns: number): string {
  if (calls.length === 0) return "Unattended: nothing that it can call asks.\n";
  const parts = headings.flatMap(([verdict, heading]) => {
    const found = calls.filter((call) => call.verdict === verdict);
    if (found.length === 0) return [];
    return [`${heading}:`, ...found.flatMap((call) => renderCall(call, columns))];
  });
  return parts.map((line) => `${line}\n`).join("");
}

const headings: readonly (readonly [ForecastCall["verdict"], string])[] = [
  ["asks", "Unattended, these are denied, for they always ask"],
  ["depends", "Unattended, some calls of these may be denied"],
  ["blocked", "These never run, attended or not"],
  ["unverified", "Of these nothing is known"],
];

function renderCall({ caller, tool, why, allow, approve }: ForecastCall, columns: number): string[] {
  const lines = wrapWords(`${show(caller)} > ${show(tool)}: ${show(why)}`, columns - 2).map((line) => `  ${line}`);
  if (approve !== undefined) return [...lines, `    with --approve '${show(approve)}'`];
  return allow === undefined ? lines : [...lines, `    in ${show(caller)}: ${show(allow)}`];
}

/** `2 tools always ask, 1 depends on its arguments`. */
export function summarizeForecast({ calls }: Forecast): string {
  const count = (verdict: ForecastCall["verdict"]) => calls.filter((call) => call.verdict === verdict).length;
  const [asks, depends, blocked, unverified] = [count("asks"), count("depends"), count("blocked"), count("unverified")];
  const parts = [
    ...(asks > 0 ? [`${counted(asks, "tool")} always ${asks === 1 ? "asks" : "ask"}`] : []),
    ...(depends > 0 ? [`${counted(depends, "tool")} may ask`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(unverified > 0 ? [`${unverified} not verified`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : "nothing asks";
}
