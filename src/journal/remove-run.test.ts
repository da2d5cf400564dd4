import { expect, test } from "vitest";
import { memoryHost } from "../testing/memory-host.ts";
import { removeRun } from "./remove-run.ts";

const runId = "20260101-000000-abcdef";
const directory = `/p/.llm-do/runs/${runId}`;

function recorded(...facts: readonly object[]) {
  const lines = facts.map((fact, n) => `${JSON.stringify({ v: 2, n, time: 0, ...fact })}\n`);
  return memoryHost({
    files: {
      [`${directory}/journal.jsonl`]: lines.join(""),
      [`${directory}/blobs/b`]: "b",
      [`/home/user/.local/state/llm-do/private/${runId}/secrets.jsonl`]: "{}\n",
      "/p/main.worker": "Hello.\n",
    },
  });
}

const start = (owner: string) => ({ type: "run-start", owner });
const end = (stopReason: string) => ({ type: "run-end", stopReason });

test.each([
  ["a run that ended", [start("memory 1"), end("done")]],
  ["a run that was killed", [start("memory 7"), { type: "grant" }]],
  ["a run whose journal is damaged", [start("memory 1"), "no entry"]],
])("removes %s with its private folder, and nothing else", async (_, facts) => {
  const host = recorded(...(facts as object[]));
  if (facts[1] === "no entry") host.put(`${directory}/journal.jsonl`, "{\n");
  await removeRun({ ...host, processes: { self: "memory 2", isRunning: () => false } }, directory);
  expect(Object.keys(host.snapshot("/"))).toEqual(["/p/main.worker"]);
});

test.each([
  ["is under way", [start("memory 7")], true, "a process executes it"],
  ["goes on", [start("memory 6"), end("limit"), { type: "attempt", owner: "memory 7" }], true, "a process executes it"],
  ["may be under way on another machine", [start("other 7")], undefined, "another machine"],
  ["waits for answers", [start("memory 7"), end("suspended")], false, "waits for answers"],
] as const)("keeps a run that %s", async (_, facts, isRunning, why) => {
  const host = recorded(...facts);
  const before = host.snapshot("/");
  const removing = removeRun({ ...host, processes: { self: "memory 2", isRunning: () => isRunning } }, directory);
  await expect(removing).rejects.toThrow(why);
  expect(host.snapshot("/")).toEqual(before);
});

test("keeps a folder whose name is not that of a run", async () => {
  const host = recorded(start("memory 1"));
  await expect(removeRun(host, "/p/.llm-do/runs/..")).rejects.toThrow("`..` is no run");
});
