import { expect, test } from "vitest";
import type { GenerateOptions } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

/** The time-outs that a model is given, by worker. */
async function timeoutsOf(files: Readonly<Record<string, string>>, set: readonly string[] = []) {
  const given: Record<string, Pick<GenerateOptions, "timeout" | "timeouts">> = {};
  const answer = { message: { role: "assistant", parts: [{ type: "text", text: "done" }] }, usage: {}, finish: "stop" } as const;
  const { error } = await play({
    files: { "main.worker": worker(""), ...files },
    model: () => "unused",
    replays: false,
    request: {
      input: "x",
      model: "own:m",
      set,
      providers: [
        {
          ...{ name: "own", description: "for this test", keyVariables: [] },
          create: async () => ({
            id: "own:m",
            async generate(_, { call, timeout, timeouts }) {
              given[call.worker] = { ...(timeout === undefined ? {} : { timeout }), ...(timeouts ? { timeouts } : {}) };
              return answer;
            },
          }),
        },
      ],
    },
  });
  expect(error).toBeUndefined();
  return given["main"];
}

const manifest = "model_settings: { connect_timeout: 3, idle_timeout: 60 }\n";

test.each([
  ["a worker alone", {}, [], { timeouts: {} }],
  ["the manifest", { "llm-do.yaml": manifest }, [], { timeouts: { connect_timeout: 3, idle_timeout: 60 } }],
  [
    "a worker of a manifest",
    { "llm-do.yaml": manifest, "main.worker": worker("model_settings: { idle_timeout: 5, timeout: 90 }") },
    [],
    { timeout: 90, timeouts: { connect_timeout: 3, idle_timeout: 5, timeout: 90 } },
  ],
  [
    "a profile",
    {
      "llm-do.yaml": `${manifest}profiles: { slow: { model_settings: { first_byte_timeout: 600 } } }\n`,
      "main.worker": worker("extends: slow"),
    },
    [],
    { timeouts: { connect_timeout: 3, idle_timeout: 60, first_byte_timeout: 600 } },
  ],
  [
    "`set`",
    { "llm-do.yaml": manifest },
    ["model_settings.connect_timeout=0.5"],
    { timeouts: { connect_timeout: 0.5, idle_timeout: 60 } },
  ],
])("time-outs of %s reach the model", async (_, files, set, expected) => {
  expect(await timeoutsOf(files, set)).toEqual(expected);
});
