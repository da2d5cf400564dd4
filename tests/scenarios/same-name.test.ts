import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const x = worker("description: X.\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ../out, mode: rw } } }");

test("what is approved for one worker is not for another of the same name", async () => {
  const asked: ApprovalRequest[] = [];
  const call = (tool: string) => ({ tool, args: { input: "go" } });
  const { error, result } = await play({
    files: {
      "main.worker": worker("toolsets: { ./a/x.worker: { _prefix: a }, ./b/x.worker: { _prefix: b } }"),
      "a/x.worker": x,
      "b/x.worker": x,
    },
    model: ({ worker: name, turn }) => {
      if (turn > 1) return "done";
      if (name === "main") return { calls: [call("a_x"), call("b_x")] };
      return { calls: [1, 2].map(() => ({ tool: "write_file", args: { path: "out/f", content: "x" } })) };
    },
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "approve", remember: "run" };
      },
    },
    request: { input: "go" },
  });
  expect(error).toBeUndefined();
  expect(result?.denied).toEqual([]);
  const callers = asked.filter(({ tool }) => tool === "write_file").map(({ callPath }) => callPath.split("/")[1]);
  expect(callers.toSorted()).toEqual(["0.a_x", "1.b_x"]);
});
