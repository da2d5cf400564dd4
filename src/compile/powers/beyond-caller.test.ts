import { expect, test } from "vitest";
import { defaultAttachmentPolicy } from "../../program/program.ts";
import type { OutlinedWorker } from "../../protocol/outline.ts";
import { abilitiesBeyond } from "./beyond-caller.ts";

/** `main` calls so many workers. Counts how often a worker is read from the graph. */
function createFan(count: number) {
  let reads = 0;
  const callees = Array.from({ length: count }, (_, index) => `w${index}`);
  const workers = new Map([createWorker("main", callees), ...callees.map((id) => createWorker(id, []))]);
  const get = workers.get.bind(workers);
  workers.get = (id) => {
    reads++;
    return get(id);
  };
  return { graph: { workers, callables: new Map() }, callees, readsSoFar: () => reads };
}

function createWorker(id: string, callees: readonly string[]): [string, OutlinedWorker] {
  const model = { id: `anthropic:${id === "main" ? "m" : "n"}`, source: "", namedBy: "user" as const };
  const toolsets = callees.map((worker) => ({ reference: worker, kind: "worker" as const, worker, tools: [] }));
  const empty = { description: "", file: "", input: {}, scopes: [], context: [], limits: {} };
  return [id, { ...empty, id, name: id, model, toolsets, attachments: defaultAttachmentPolicy }];
}

test("the work to say what each called worker can do beyond its caller grows with the workers, not with their square", () => {
  const { graph, callees, readsSoFar } = createFan(300);
  for (const id of callees) expect(abilitiesBeyond(graph, "main", id)).toEqual(["send to anthropic:n"]);
  expect(readsSoFar()).toBeLessThan(300 * 10);
});
