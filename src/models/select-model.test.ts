import { expect, test } from "vitest";
import { selectModel } from "./select-model.ts";

const all = { worker: "a:w", run: "a:r", manifest: "a:m", environment: "a:e" };

test.each([
  [all, { id: "a:w", source: "worker" }],
  [
    { ...all, worker: undefined },
    { id: "a:r", source: "--model" },
  ],
  [
    { ...all, worker: " ", run: "" },
    { id: "a:m", source: "manifest" },
  ],
  [{ environment: " a:e " }, { id: "a:e", source: "LLM_DO_MODEL" }],
  [{ environment: "" }, undefined],
  [{}, undefined],
])("%j", (candidates, selected) => {
  expect(selectModel(candidates)).toEqual(selected);
});
