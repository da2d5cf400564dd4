import type { Measure, RunSetsComparison } from "../../boundary/compare-run-sets.ts";
import type { Interval } from "../../util/intervals.ts";

/** The name of a row, and how its numbers are written. */
const rows: Readonly<Record<Measure, readonly [name: string, write: (value: number) => string]>> = {
  requests: ["requests", (value) => value.toFixed(1)],
  tokens: ["tokens", (value) => value.toFixed(0)],
  toolCalls: ["calls", (value) => value.toFixed(1)],
  usd: ["cost", (value) => `$${value.toFixed(4)}`],
  denied: ["denied", (value) => value.toFixed(1)],
  seconds: ["time", (value) => `${value.toFixed(1)} s`],
};

/** Two sets of runs side by side: shares and means, and their difference with its 95 % interval. `~`: the interval does not hold 0. */
export function renderRunSets({ first, second, done, sameOutput, differences }: RunSetsComparison): string {
  const row = (name: string, values: readonly [string, string], difference?: Interval, write = points) => {
    const mark = difference && (difference.lower > 0 || difference.upper < 0) ? "~" : " ";
    const told = difference
      ? `${sign(difference.estimate, write)}  (${sign(difference.lower, write)} to ${sign(difference.upper, write)})`
      : "";
    return `${mark} ${name.padEnd(12)} ${values[0].padEnd(12)} ${values[1].padEnd(12)} ${told}`.trimEnd().concat("\n");
  };
  const share = (name: string, key: "done" | "sameOutput", difference: Interval) =>
    row(name, [`${first[key].hits} of ${first[key].count}`, `${second[key].hits} of ${second[key].count}`], difference);
  const means = (Object.keys(rows) as Measure[]).map((key) => {
    const [name, write] = rows[key];
    const [one, other] = [first.means[key], second.means[key]].map((mean) => (mean === undefined ? "?" : write(mean)));
    return row(name, [one ?? "?", other ?? "?"], differences[key], write);
  });
  const head = `  ${"".padEnd(12)} ${"first".padEnd(12)} ${"second".padEnd(12)} difference (95 % interval)\n`;
  return [head, share("done", "done", done), share("usual output", "sameOutput", sameOutput), ...means].join("");
}

function points(share: number): string {
  return `${(100 * share).toFixed(1)} points`;
}

function sign(value: number, write: (value: number) => string): string {
  return `${value < 0 ? "-" : "+"}${write(Math.abs(value))}`;
}
