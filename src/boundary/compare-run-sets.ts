import { takenNames } from "../protocol/usage.ts";
import { differenceOfMeans, differenceOfShares, type Hits, type Interval, meanOf } from "../util/intervals.ts";
import { type RunFigures, withoutTokens } from "./compare-runs.ts";

/** The figures of several runs. */
export interface RunSetFigures {
  readonly runs: readonly RunFigures[];
  readonly done: Hits;
  /** The answer that is the most frequent one of both sets. */
  readonly sameOutput: Hits;
  /** The mean of each; absent if one of the runs has none. */
  readonly means: Readonly<Partial<Record<Measure, number>>>;
}

const measures = ["requests", "tokens", "toolCalls", "usd", "denied", "seconds"] as const;
export type Measure = (typeof measures)[number];

/** Differences are of the second set minus the first, with 95 % intervals. */
export interface RunSetsComparison {
  readonly first: RunSetFigures;
  readonly second: RunSetFigures;
  /** Differences of shares. */
  readonly done: Interval;
  readonly sameOutput: Interval;
  /** Differences of means. */
  readonly differences: Readonly<Partial<Record<Measure, Interval>>>;
}

/** Compares two sets of two runs or more each. */
export function compareRunSets(before: readonly RunFigures[], after: readonly RunFigures[]): RunSetsComparison {
  const usual = mostFrequent([...before, ...after].map(outputOf));
  const [one, other] = [figuresOfSet(before, usual), figuresOfSet(after, usual)];
  const differences = measures.flatMap((name) => {
    const [old, now] = [valuesOf(before, name), valuesOf(after, name)];
    return old && now ? [[name, differenceOfMeans(now, old)]] : [];
  });
  return {
    ...{ first: one, second: other },
    done: differenceOfShares(other.done, one.done),
    sameOutput: differenceOfShares(other.sameOutput, one.sameOutput),
    differences: Object.fromEntries(differences),
  };
}

/**
 * Names what the second set certainly did otherwise: ended less often with `done`, gave the usual output more or less often, or took more
 * requests, tokens or dollars than the first by more than `tolerance`, a share of its mean. Certainly: the whole interval says so.
 */
export function setsBeyondTolerance(
  { first, differences, done, sameOutput }: RunSetsComparison,
  tolerance: number,
): readonly string[] {
  const taken = takenNames.filter((name) => (differences[name]?.lower ?? 0) > tolerance * (first.means[name] ?? 0));
  const isOther = sameOutput.upper < 0 || sameOutput.lower > 0;
  return [...(done.upper < 0 ? ["outcome"] : []), ...(isOther ? ["output"] : []), ...taken];
}

function figuresOfSet(runs: readonly RunFigures[], usual: string | undefined): RunSetFigures {
  const count = runs.length;
  const means = measures.flatMap((name) => {
    const values = valuesOf(runs, name);
    return values ? [[name, meanOf(values)]] : [];
  });
  return {
    runs,
    done: { hits: runs.filter(({ outcome }) => outcome === "done").length, count },
    sameOutput: { hits: runs.filter((run) => outputOf(run) === usual).length, count },
    means: Object.fromEntries(means),
  };
}

function valuesOf(runs: readonly RunFigures[], name: Measure): readonly number[] | undefined {
  const values = runs.flatMap((run) => run[name] ?? []);
  return values.length === runs.length ? values : undefined;
}

function outputOf({ output }: RunFigures): string {
  return withoutTokens(output);
}

function mostFrequent(texts: readonly string[]): string | undefined {
  return [...Map.groupBy(texts, (text) => text)].toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0];
}
