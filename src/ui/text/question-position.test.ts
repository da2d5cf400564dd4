import { expect, it } from "vitest";
import { questionPosition } from "./question-position.ts";

it.each([
  [{ n: 1, m: 1 }, "1 of 1"],
  [{ n: 2, m: 12 }, "2 of 12"],
  [{ n: 1, m: 1, waiting: 1 }, "1 of 1, and 1 call waits behind this one"],
  [{ n: 1, m: 3, waiting: 4 }, "1 of 3, and 4 calls wait behind these"],
])("renders %j", (position, text) => {
  expect(questionPosition(position)).toBe(text);
});
