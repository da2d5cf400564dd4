import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

test("names what is near, or nothing", () => {
  expect(didYouMean("toolset", ["toolsets", "name"])).toEqual([{ message: "did you mean `toolsets`?" }]);
  expect(didYouMean("r", ["ro", "rw", "other"])).toEqual([{ message: "did you mean `ro` or `rw`?" }]);
  expect(didYouMean("banana", ["toolsets"])).toEqual([]);
});
