import type { RunsComparison } from "../../boundary/compare-runs.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { showText } from "../text/show-text.ts";

/** The most calls that a comparison shows. */
const mostCalls = 20;

/** Two runs side by side: a row for each figure, then the calls that one made more often. */
export function renderRunsComparison({ first, second, sameOutput, calls }: RunsComparison): string {
  const dollars = (usd: number | undefined) => (usd === undefined ? "$?" : `$${usd.toFixed(4)}`);
  const row = (name: string, of: (run: RunsComparison["first"]) => string) => {
    const [one, other] = [of(first), of(second)];
    return `${one === other ? " " : "~"} ${name.padEnd(9)} ${showText(one).padEnd(24)} ${showText(other)}\n`.replace(
      / +\n$/,
      "\n",
    );
  };
  const rows = [
    row("run", ({ runId }) => runId),
    row("outcome", ({ outcome }) => outcome),
    row("requests", ({ requests }) => String(requests)),
    row("tokens", ({ tokens }) => String(tokens)),
    row("cost", ({ usd }) => dollars(usd)),
    row("denied", ({ denied }) => String(denied)),
    row("time", ({ seconds }) => `${seconds.toFixed(1)} s`),
  ];
  const output = sameOutput ? "  output    the same\n" : `~ output\n${renderOutputs(first.output, second.output)}`;
  const shown = calls.slice(0, mostCalls).map((one) => `  ${one.first}, ${one.second}: ${showText(clipText(one.call, 200))}\n`);
  const rest = calls.length > mostCalls ? `  and ${calls.length - mostCalls} more; --json has them\n` : "";
  const head = calls.length > 0 ? `~ calls     ${calls.length} that one run made more often:\n` : "  calls     the same\n";
  return [...rows, output, head, ...shown, rest].join("");
}

/** From shortly before the first difference on. */
function renderOutputs(first: JsonValue, second: JsonValue): string {
  const [one, other] = [JSON.stringify(first), JSON.stringify(second)];
  const from = Math.max(0, findDifference(one, other) - 40);
  const show = (text: string) => `${from > 0 ? "…" : ""}${showText(clipText(text.slice(from), 400))}`;
  return `  - ${show(one)}\n  + ${show(other)}\n`;
}

function findDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
