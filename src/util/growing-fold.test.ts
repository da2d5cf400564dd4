import { expect, test } from "vitest";
import { createGrowingFold } from "./growing-fold.ts";

const list = (...names: readonly string[]) => names.map((name) => ({ name }));

/** Joins names, and notes what it looked at. */
function createJoin() {
  const looked: string[] = [];
  const fold = createGrowingFold<{ name: string }, { text: string }>(
    (start) => ({ text: start }),
    (state, { name }) => {
      looked.push(name);
      state.text += name;
    },
  );
  return { looked, fold };
}

test("looks at each element once while a list grows", () => {
  const { looked, fold } = createJoin();
  const all = list("a", "b", "c");
  for (let length = 0; length <= 3; length++) expect(fold(all.slice(0, length)).text).toBe("abc".slice(0, length));
  expect(fold(all).text).toBe("abc");
  expect(looked).toEqual(["a", "b", "c"]);
});

test("folds a list anew that was changed, cut or begins in another way", () => {
  const { fold } = createJoin();
  const all = list("a", "b", "c");
  expect(fold(all).text).toBe("abc");
  expect(fold(all.with(1, { name: "x" })).text).toBe("axc");
  expect(fold(all).text).toBe("abc");
  expect(fold(all.slice(0, 2)).text).toBe("ab");
  expect(fold(all, "> ").text).toBe("> abc");
  expect(fold(all).text).toBe("abc");
});
