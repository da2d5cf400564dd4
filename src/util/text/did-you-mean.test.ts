import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

test("names what is near, or nothing", () => {
  expect(didYouMean("toolset", ["toolsets", "name"])).toBe("did you mean `toolsets`?");
  expect(didYouMean("r", ["ro", "rw", "other"])).toBe("did you mean `ro` or `rw`?");
  expect(didYouMean("banana", ["toolsets"])).toBeUndefined();
});
