import { expect, test } from "vitest";
import { environmentSecrets, Redactor } from "./redactor.ts";

const redactor = new Redactor([
  { name: "KEY", value: "abcdefgh" },
  { name: "LONGER", value: "abcdefghij" },
  { name: "SHORT", value: "abc" },
  { name: "QUOTED", value: 'has "quotes"' },
]);

test("replaces values, the longest first, and leaves short ones alone", () => {
  expect(redactor.text("abc abcdefgh abcdefghij")).toBe("abc ⟦secret:KEY⟧ ⟦secret:LONGER⟧");
});

test("reaches strings and keys at any depth, and JSON inside strings", () => {
  expect(redactor.json({ abcdefgh: [{ x: "=abcdefgh=" }, 1, null] })).toEqual({
    "⟦secret:KEY⟧": [{ x: "=⟦secret:KEY⟧=" }, 1, null],
  });
  expect(redactor.json({ text: JSON.stringify({ a: 'has "quotes"' }) })).toEqual({ text: '{"a":"⟦secret:QUOTED⟧"}' });
});

test("takes for secrets what is named like one", () => {
  const environment = { OPENAI_API_KEY: "1", GITHUB_TOKEN: "2", DB_PASSWORD: "3", HOME: "4", KEYBOARD: "5", EMPTY_KEY: "" };
  expect(environmentSecrets(environment).map(({ name }) => name)).toEqual(["OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD"]);
});
