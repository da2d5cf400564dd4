import { expect, test } from "vitest";
import { memoryHost } from "../testing/memory-host.ts";
import { sweepRecords } from "./sweep-records.ts";

const alive = ".llm-do-memory-1-abc.tmp";
const dead = ".llm-do-memory-2-abc.tmp";

test("what killed processes left in the latest records goes, once on a host", async () => {
  const run = (number: number, name: string) => `/p/.llm-do/runs/20260101-0000${10 + number}-abcdef/${name}`;
  const [first, last] = [5, 68];
  const left = [`blobs/${dead}`, `artifacts/${dead}`, dead, `blobs/${alive}`, "journal.jsonl"];
  const latest = left.map((name) => run(last, name));
  const old = run(first - 1, `blobs/${dead}`);
  const between = Array.from({ length: last - first }, (_, index) => run(first + index, "journal.jsonl"));
  const host = memoryHost({ files: Object.fromEntries([old, ...between, ...latest].map((path) => [path, ""])) });
  await sweepRecords(host, "/p/.llm-do/runs");
  const kept = () => Object.keys(host.snapshot("/p/.llm-do/runs")).sort();
  expect(kept()).toEqual([old, ...between, run(last, `blobs/${alive}`), run(last, "journal.jsonl")].sort());
  await host.files.writeAtomically(run(last, `blobs/${dead}`), "");
  await sweepRecords(host, "/p/.llm-do/runs");
  expect(kept()).toContain(run(last, `blobs/${dead}`));
});

const runs = "/p/.llm-do/runs";
const run = (number: number) => `${runs}/20260101-00001${number}-abcdef`;

test("no link is followed out of the folder of runs", async () => {
  const host = memoryHost({
    files: {
      [`/elsewhere/${dead}`]: "",
      [`/elsewhere/blobs/${dead}`]: "",
      [`${run(1)}/journal.jsonl`]: "",
      [`${run(1)}/blobs`]: { link: "/elsewhere/blobs" },
      [`${run(1)}/${dead}`]: "",
      [run(2)]: { link: "/elsewhere" },
    },
  });
  await sweepRecords(host, runs);
  expect(Object.keys(host.snapshot("/elsewhere"))).toEqual([`/elsewhere/${dead}`, `/elsewhere/blobs/${dead}`]);
  expect(Object.keys(host.snapshot(run(1)))).toEqual([`${run(1)}/journal.jsonl`]);
});

test("locks go that killed processes left, also alone", async () => {
  const lock = (key: string) => `${run(1)}/.llm-do-${key.repeat(16)}-0.lock`;
  const host = memoryHost({ files: { [lock("a")]: { link: dead }, [lock("b")]: { link: alive } } });
  await sweepRecords(host, runs);
  expect(await host.files.names(run(1))).toEqual([lock("b").slice(run(1).length + 1)]);
});

test("a folder that cannot be read keeps no other from being swept before it returns", async () => {
  const host = memoryHost({ files: Object.fromEntries([1, 2, 3].map((number) => [`${run(number)}/blobs/${dead}`, ""])) });
  host.setFaults((_, path) => (path.startsWith(run(2)) ? "EACCES" : undefined));
  await sweepRecords(host, runs);
  host.setFaults(() => undefined);
  expect(Object.keys(host.snapshot(runs))).toEqual([`${run(2)}/blobs/${dead}`]);
});
