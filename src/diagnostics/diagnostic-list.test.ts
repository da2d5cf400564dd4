import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";
import { DiagnosticList } from "./diagnostic-list.ts";
import type { Source } from "./source.ts";

const a: Source = { name: "a.worker", text: "x".repeat(500) };
const b: Source = { name: "b.worker", text: "x" };

test("tells in the order of sources and places, those without a place first", () => {
  const list = new DiagnosticList();
  list.add(diagnose("unknown-key", { message: "third", span: { source: b, start: 0, end: 1 } }));
  list.add(diagnose("unknown-key", { message: "second", span: { source: a, start: 5, end: 6 } }));
  list.add(diagnose("unknown-key", { message: "first", span: { source: a, start: 1, end: 2 } }));
  list.add(diagnose("unknown-key", { message: "no place" }));
  expect(list.toArray().map((diagnostic) => diagnostic.message)).toEqual(["no place", "first", "second", "third"]);
});

test("tells each mistake once", () => {
  const list = new DiagnosticList();
  list.addAll(["x", "x", "y"].map((message) => diagnose("unknown-key", { message, span: { source: a, start: 1, end: 2 } })));
  expect(list.toArray().map((diagnostic) => diagnostic.message)).toEqual(["x", "y"]);
});

test("keeps a hundred and says how many are left out", () => {
  const list = new DiagnosticList();
  for (let start = 0; start < 130; start++)
    list.add(diagnose("unknown-key", { message: "x", span: { source: a, start, end: start } }));
  const told = list.toArray();
  expect(told).toHaveLength(101);
  expect(told.at(-1)).toMatchObject({
    code: "too-many-diagnostics",
    severity: "hint",
    message: "30 more mistakes are not shown",
  });
});

test("warnings do not crowd out errors", () => {
  const list = new DiagnosticList();
  for (let start = 0; start < 130; start++)
    list.add(diagnose("yaml-comment", { message: "x", span: { source: a, start, end: start } }));
  expect(list.hasErrors).toBe(false);
  list.add(diagnose("unknown-key", { message: "an error", span: { source: b, start: 0, end: 1 } }));
  expect(list.hasErrors).toBe(true);
  const told = list.toArray();
  expect(told).toHaveLength(101);
  expect(told.filter((diagnostic) => diagnostic.severity === "error")).toHaveLength(1);
});
