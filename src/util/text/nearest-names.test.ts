import { expect, test } from "vitest";
import { editDistance, nearestNames } from "./nearest-names.ts";

const keys = ["name", "description", "model", "compatible_models", "toolsets", "sandbox", "limits", "input", "output"];

test.each([
  ["toolset", ["toolsets"]],
  ["desc", ["description"]],
  ["modle", ["model"]],
  ["compatible-models", ["compatible_models"]],
  ["models", ["model", "compatible_models"]],
  ["Output", ["output"]],
  ["banana", []],
  ["", []],
  ["x".repeat(1000), []],
])("%j is near to %j", (name, near) => {
  expect(nearestNames(name, keys)).toEqual(near);
});

test.each([
  ["", "", 0],
  ["abc", "", 3],
  ["ab", "ba", 1],
  ["kitten", "sitting", 3],
])("from %j to %j are %d edits", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});
