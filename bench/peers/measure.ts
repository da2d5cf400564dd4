import { type Arm, type Case, check, modelOf, reasonOf } from "./arm.ts";

/** Times of one round in milliseconds; rejects where the library did not do what the case is about. */
export interface Took {
  readonly wall: number;
  readonly cpu: number;
}

/** A library that is prepared. */
export interface Entrant {
  readonly arm: Arm;
  time(one: Case): Promise<Took>;
}

/** Times of the rounds of one case, in milliseconds, or the reason why there are none. */
export interface Times {
  readonly arm: Arm;
  readonly walls: number[];
  readonly cpu: number[];
  failure?: string;
}

/** A library that takes longer for a case once is left out of its further rounds, in milliseconds. */
const mostOfOne = 20_000;

/**
 * Each library does the case once in a round, in a random order, until the seconds are over: nine times at least, or as often as begins
 * within fifteen times the seconds. A library takes over memory to collect and cold caches from the one before it: in a random order none is
 * always behind the same one. A round before these does not count; there is none where counts are large, since smaller cases have
 * warmed up. A library that fails is left out from there on, with the reason.
 */
export async function measure(entrants: readonly Entrant[], one: Case, seconds: number): Promise<readonly Times[]> {
  const rows = entrants.map(({ arm }) => createTimes(arm, one));
  const first = one.count >= 400 && one.kind !== "text" ? 0 : -1;
  let began = performance.now();
  const passed = () => (performance.now() - began) / 1000 / seconds;
  for (let round = first; round < 1 || passed() < (round < 9 ? 15 : 1); round++) {
    for (const index of shuffle(entrants.length))
      await measureOnce(entrants[index] as Entrant, one, rows[index] as Times, round >= 0);
    if (round === -1) began = performance.now();
  }
  return rows;
}

/** The numbers below a count in a random order, each order as probable as any other. */
function shuffle(count: number): readonly number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  return order;
}

function createTimes(arm: Arm, one: Case): Times {
  const failure = reasonOf(arm, one);
  return { arm, walls: [], cpu: [], ...(failure === undefined ? {} : { failure }) };
}

async function measureOnce(entrant: Entrant, one: Case, row: Times, isCounted: boolean): Promise<void> {
  if (row.failure !== undefined) return;
  try {
    const { wall, cpu } = await entrant.time(one);
    if (wall > mostOfOne) row.failure = `left out, it takes ${(wall / 1000).toFixed(0)} s`;
    else if (isCounted) {
      row.walls.push(wall);
      row.cpu.push(cpu);
    }
  } catch (error) {
    row.failure = `fails: ${error instanceof Error ? error.message.slice(0, 100) : error}`;
  }
  if (row.failure !== undefined) console.error(`${row.arm.name}, ${modelOf(one)}: ${row.failure}`);
}

/** An entrant that does its cases in this process. */
export async function enter(arm: Arm, baseUrl: string): Promise<Entrant> {
  const run = await arm.prepare(baseUrl);
  const time = async (one: Case): Promise<Took> => {
    const before = process.cpuUsage();
    const began = performance.now();
    const text = await run(one);
    const wall = performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    check(one, text);
    return { wall, cpu: (user + system) / 1000 };
  };
  return { arm, time };
}

/** The tenth percentile of the ratios of two libraries in the same rounds. */
export function ratioOf(times: readonly number[], others: readonly number[] = []): number {
  return quantile(
    times.map((time, round) => time / (others[round] ?? Number.NaN)),
    0.1,
  );
}

export function quantile(values: readonly number[], at: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * at)] ?? Number.NaN;
}

/** The exponent with which a time grows: the slope of its logarithm over that of the count, by least squares. */
export function exponentOf(points: readonly { readonly count: number; readonly time: number }[]): number {
  const logs = points.map(({ count, time }) => [Math.log(count), Math.log(time)] as const);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(logs.map(([count]) => count)), mean(logs.map(([, time]) => time))];
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  return sum(logs.map(([count, time]) => (count - x) * (time - y))) / sum(logs.map(([count]) => (count - x) ** 2));
}
