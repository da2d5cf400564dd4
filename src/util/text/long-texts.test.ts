import { expect, test } from "vitest";
import { canonicalJson } from "../json/canonical-json.ts";
import { Redactor } from "../secrets/redactor.ts";
import { sha256 } from "../sha256.ts";
import { digestJson, LongTexts, lengthOfJson, longText } from "./long-texts.ts";

const { look } = new Redactor([]);
const digest = (value: unknown) => digestJson(value, look);
const long = (end: string) => "x".repeat(longText) + end;

test("a value without long texts has the digest of its JSON", () => {
  const value = { b: [1, null, "é"], a: { text: "x".repeat(longText) } };
  expect(digest(value)).toBe(sha256(canonicalJson(value)));
});

test("values have one digest exactly where their JSON is the same", () => {
  const text = long("a");
  const mark = sha256(text);
  const values = [
    { a: text },
    { b: text },
    { a: text, b: text },
    { a: [text] },
    { a: long("b") },
    { a: long("\ud800") },
    { a: long("\ud801") },
    { a: long("\ufffd") },
    { a: mark, b: text },
    { a: `#${mark}`, b: text },
    { a: text, b: `#${mark}` },
    { a: `=${text}`, b: text },
    { a: `#${mark}` },
    { [text]: text },
    JSON.parse(JSON.stringify({ own: text }).replace("own", "__proto__")),
    text,
    [text],
  ];
  const digests = values.map(digest);
  expect(new Set(digests).size).toBe(values.length);
  expect(values.map((value) => digest(JSON.parse(JSON.stringify(value))))).toEqual(digests);
  expect(digest({ b: 1, a: text, c: undefined })).toBe(digest({ a: text, b: 1 }));
  expect(digest({ a: new Date(0), b: text })).toBe(digest({ a: new Date(0).toJSON(), b: text }));
});

test("a digest of long texts keeps secrets apart, and differs with the key of the run", () => {
  const token = (letters: string) => `${long(" ")}ghp_${letters.repeat(9)}`;
  const [one, other] = ["1", "2"].map(
    (key) => new Redactor([], { identify: (_shape, value) => sha256(key + value).slice(0, 6) }),
  );
  const digests = [one, other].flatMap((redactor) => ["aB3d", "aB3e"].map((letters) => redactor?.digest({ a: token(letters) })));
  expect(new Set(digests).size).toBe(4);
  expect(one?.digest({ a: long("b") })).toBe(digest({ a: long("b") }));
});

test("the length of JSON counts long texts as they are", () => {
  expect(lengthOfJson({ b: 'a "quote"', a: [1] })).toBe(JSON.stringify({ b: 'a "quote"', a: [1] }).length);
  expect(lengthOfJson({ a: long("\n") })).toBe('{"a":""}'.length + longText + 1);
});

test("a long text is scanned once, and forgotten after eight others", () => {
  const scanned: number[] = [];
  const texts = new LongTexts((text) => {
    scanned.push(text.length);
    return text.endsWith("é");
  });
  expect(texts.look("x".repeat(longText))).toBeUndefined();
  expect(texts.look(long("\ud800"))).toBeUndefined();
  const facts = { digest: sha256(long("é")), bytes: longText + 2, holdsSecret: true };
  for (let time = 0; time < 2; time++) expect(texts.look(`${long("")}é`)).toEqual(facts);
  expect(scanned).toEqual([longText + 1]);
  for (let other = 2; other <= 8; other++) texts.look(long("y".repeat(other)));
  expect(texts.find(long("é"))).toEqual(facts);
  texts.look(long("y".repeat(9)));
  expect(texts.find(long("é"))).toBeUndefined();
});
