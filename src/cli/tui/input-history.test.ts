import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeHost } from "../../host/node-host.ts";
import { TextField } from "../../ui/tui/text-field.ts";
import { openInputHistory } from "./input-history.ts";

const folder = mkdtempSync(join(tmpdir(), "llm-do-history-"));
const environment = { ACME_API_KEY: "a value of 20 letters" };
const host = { ...createNodeHost(), stateDirectory: join(folder, "state"), environment };
const file = join(folder, "state", "input-history.jsonl");

beforeAll(async () => {
  const history = await openInputHistory(host);
  for (const text of ["first", "second\nline", "second\nline", " ", `use ${environment.ACME_API_KEY}`, "x".repeat(10_001)])
    history.add(text);
  await history.written();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("is recalled by the next process, without secrets, repetitions and texts that are too long", async () => {
  const { texts } = await openInputHistory(host);
  expect(texts).toEqual(["first", "second\nline"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const field = new TextField(texts);
  field.press({ name: "up", text: "", ctrl: false, meta: false });
  expect(field.text).toBe("second\nline");
});

test("keeps what two conversations add at once, and the last two hundred texts", async () => {
  const [one, other] = [await openInputHistory(host), await openInputHistory(host)];
  for (let index = 0; index < 5; index++) {
    one.add(`one ${index}`);
    other.add(`other ${index}`);
  }
  await Promise.all([one.written(), other.written()]);
  expect((await openInputHistory(host)).texts).toHaveLength(12);
  const many = Array.from({ length: 300 }, (_, index) => JSON.stringify({ v: 1, text: `text ${index}` }));
  writeFileSync(file, `${[...many, "damaged"].join("\n")}\n`);
  const history = await openInputHistory(host);
  history.add("the last");
  await history.written();
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(200);
  expect(lines.at(-1)).toContain("the last");
});
