// A durable entry beside a bare commit: `node bench/durable-write.ts postgres://USER@HOST:PORT/NAME [ROUNDS]`, an empty database.
import pg from "pg";
import { createNodeHost } from "../src/host/node-host.ts";
import { RunSecrets } from "../src/journal/run-secrets.ts";
import { PostgresStore } from "../src/postgres/postgres-store.ts";
import { Redactor } from "../src/util/secrets/redactor.ts";
import { printRow } from "./timing.ts";

const [url = "", given = "2000"] = process.argv.slice(2);
const rounds = Number(given);
const host = createNodeHost();

/** Each query of the driver is one round trip. */
let trips = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  trips++;
  return Reflect.apply(query, this, args);
} as typeof query;

const store = await PostgresStore.open({ url, host });
const secrets = new RunSecrets(() => "0".repeat(64));
const run = { id: host.createId(), program: { root: "/p", name: "p" }, redactor: new Redactor([], secrets), secrets };
const { journal } = await store.create(run);
const line = `${"x".repeat(300)}\n`;
await store.database.query("CREATE TABLE bare (n int PRIMARY KEY, body bytea NOT NULL)");
const insertBare = "INSERT INTO bare VALUES ($1, $2)";
const body = Buffer.from(line);

const ways = {
  durable: async (number: number) => {
    const outcome = { type: "value", value: { ok: true, value: `${number} ${line}` } } as const;
    journal.append({ type: "result", callPath: "main/0.t", key: "tool", kind: "tool", outcome });
    await journal.written({ durable: true });
  },
  bare: (number: number) => store.database.query(insertBare, [2 * number, body]),
  "bare, prepared": (number: number) => store.database.query(insertBare, [2 * number + 1, body], "bare"),
};
type Way = keyof typeof ways;
const measured = Object.keys(ways).map((name) => ({ name: name as Way, times: [] as number[], processor: 0, trips: 0 }));
for (let number = 0; number < rounds; number++)
  for (const way of measured) {
    const [before, used, began] = [trips, process.cpuUsage(), performance.now()];
    await ways[way.name](number);
    way.times.push(performance.now() - began);
    const { user, system } = process.cpuUsage(used);
    way.processor += (user + system) / 1000;
    way.trips += trips - before;
  }

const part = (all: readonly number[], share: number) =>
  all.toSorted((one, other) => one - other)[Math.floor(all.length * share)] ?? 0;
printRow("write", "ms, median", "ms, fastest tenth", "ms of this process", "round trips");
for (const { name, times, processor, trips: made } of measured)
  printRow(
    name,
    ...[part(times, 0.5), part(times, 0.1), processor / rounds].map((ms) => ms.toFixed(2)),
    (made / rounds).toFixed(3),
  );
const durable = measured.find(({ name }) => name === "durable")?.times ?? [];
for (const { name, times } of measured.filter((way) => way.name !== "durable")) {
  const ratio = part(
    durable.map((time, round) => time / (times[round] ?? 0)),
    0.5,
  );
  printRow(`durable beside ${name}, median of the rounds' ratios`, ratio.toFixed(2));
}
await journal.close();
await store.close();
