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
