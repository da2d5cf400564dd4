import { expect, it } from "vitest";
import { drawField, type Key, TextField } from "./text-field.ts";

const key = (name: string, more: Partial<Key> = {}): Key => ({ name, text: "", ctrl: false, meta: false, ...more });
const type = (field: TextField, text: string) => {
  for (const character of text) field.press(key(character, { text: character }));
};

it("edits a text of several lines, with a paste kept as it is", () => {
  const field = new TextField();
  type(field, "one two");
  field.press(key("w", { ctrl: true }));
  expect(field.text).toBe("one ");
  field.press(key("return", { meta: true }));
  field.press(key("paste", { text: "a\r\nb\x1b[2J" }));
  expect(field.text).toBe("one \na\nb\x1b[2J");
  field.press(key("up"));
  field.press(key("end"));
  type(field, "!");
  expect(field.text).toBe("one \na!\nb\x1b[2J");
  expect(drawField(field, 40, 5)).toEqual({ rows: ["> one ", "  a!", "  b\\u{1B}[2J"], cursor: { row: 1, column: 4 } });
  type(field, "\\");
  expect(field.press(key("return"))).toBe("changed");
  expect(field.text).toBe("one \na!\n\nb\x1b[2J");
});

it("moves by what is seen as one character", () => {
  const field = new TextField();
  type(field, "e\u0301👩‍👩‍👧");
  field.press(key("backspace"));
  expect(field.text).toBe("e\u0301");
  field.press(key("left"));
  expect(field.beforeCursor).toBe("");
});

it("recalls earlier texts, and the one that was being typed", () => {
  const field = new TextField();
  for (const text of ["first", "second"]) {
    type(field, text);
    expect(field.press(key("return"))).toBe("submit");
    expect(field.take()).toBe(text);
  }
  type(field, "third");
  for (const name of ["up", "up", "up"]) field.press(key(name));
  expect(field.text).toBe("first");
  for (const name of ["down", "down", "down"]) field.press(key(name));
  expect(field.text).toBe("third");
});

it("shows the rows around the cursor of a long text", () => {
  const field = new TextField();
  field.set(Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n"));
  expect(drawField(field, 40, 3)).toEqual({ rows: ["  line 17", "  line 18", "  line 19"], cursor: { row: 2, column: 9 } });
});
