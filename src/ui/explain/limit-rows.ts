import type { Outline } from "../../protocol/outline.ts";
import type { Limits } from "../../protocol/usage.ts";
import { joinNames } from "../../util/text/did-you-mean.ts";
import { formatCount } from "../../util/text/format-count.ts";
import type { Row } from "./layout.ts";
import { dollars, highestCost, type ModelPrices } from "./model-prices.ts";
import { counted, show } from "./phrases.ts";
import { entryOf } from "./unused-roots.ts";

const accountNames = [
  ["tokens", "tokens"],
  ["usd", "dollars"],
  ["seconds", "seconds"],
] as const;

/** Returns rows for the limits of a run, and of each call in it; the defaults of the runtime where none is set. */
export function limitRows(outline: Outline, prices: ModelPrices = new Map()): Row[] {
  const { workers, limits, ceiling } = outline;
  const bounds = limitsOfRun(outline);
  const { tokens, usd } = bounds;
  const cost = tokens === undefined || usd !== undefined ? undefined : highestCost(prices, { models: ceiling.models, tokens });
  const isOpen = (name: keyof Limits) => bounds[name] === undefined && !(name === "usd" && cost !== undefined);
  const open = accountNames.filter(([name]) => isOpen(name)).map(([, words]) => words);
  const unlimited = open.length > 0 ? [`no limit of ${joinNames(open, " or ")}`] : [];
  const ofRun = [...describeLimits(bounds, cost), ...unlimited];
  const ofCalls = workers.flatMap(({ id, name, limits: own }) => {
    const turns = own.turns === undefined ? {} : { turns: least(own.turns, limits.turns) };
    const texts = describeLimits(id === entryOf(outline)?.id ? turns : { ...own, ...turns });
    return texts.length > 0 ? [`${show(name)}: ${texts.join(", ")}`] : [];
  });
  return [
    { label: "a run", texts: [ofRun.join(", ")] },
    { label: "a call", texts: [[counted(limits.turns ?? 50, "turn"), ...ofCalls].join("; ")] },
  ];
}

/** Returns the limits of a run, which the limits of its entry bound too. */
function limitsOfRun(outline: Outline): Limits {
  const { depth, parallel, ...accounts } = outline.limits;
  const own = entryOf(outline)?.limits ?? {};
  const names = ["tokens", "usd", "seconds", "tool_calls"] as const;
  return {
    ...Object.fromEntries(names.map((name) => [name, least(accounts[name], own[name])])),
    depth: least(depth ?? own.depth ?? 5, own.depth),
    parallel: least(parallel ?? own.parallel ?? 8, own.parallel),
  };
}

function least(...numbers: [number, number | undefined]): number;
function least(...numbers: (number | undefined)[]): number | undefined;
function least(...numbers: (number | undefined)[]): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length > 0 ? Math.min(...given) : undefined;
}

/** Describes each limit. `cost`: the highest cost of all the tokens. */
function describeLimits(limits: Limits, cost?: number): string[] {
  return Object.entries(limits).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const phrase = limitPhrases[name as keyof Limits](value);
    return [name === "tokens" && cost !== undefined ? `${phrase} (to ${dollars(cost)})` : phrase];
  });
}

const limitPhrases: Readonly<Record<keyof Limits, (value: number) => string>> = {
  depth: (value) => `depth ${formatCount(value)}`,
  turns: (value) => counted(value, "turn"),
  tool_calls: (value) => counted(value, "tool call"),
  tokens: (value) => counted(value, "token"),
  usd: (value) => `$${value}`,
  seconds: (value) => counted(value, "second"),
  parallel: (value) => `${formatCount(value)} at once`,
};
