import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../sha256.ts";
import { RedactedStream } from "./redacted-stream.ts";
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

function nested(depth: number, value: string): unknown {
  return depth === 0 ? value : [nested(depth - 1, value)];
}

test("reaches strings and keys at any depth, and JSON inside strings", () => {
  expect(redactor.json({ abcdefgh: [{ x: "=abcdefgh=" }, 1, null] })).toEqual({
    "⟦secret:KEY⟧": [{ x: "=⟦secret:KEY⟧=" }, 1, null],
  });
  expect(redactor.json(nested(120, "abcdefgh"))).toEqual(nested(120, "⟦secret:KEY⟧"));
  expect(redactor.json({ text: JSON.stringify({ a: 'has "quotes"' }) })).toEqual({ text: '{"a":"⟦secret:QUOTED⟧"}' });
});

test("digests texts without a secret alone, long or short", () => {
  for (const text of ["a text", "größer ".repeat(2000)]) {
    expect(redactor.digestOfPublic(text)).toBe(sha256(Buffer.from(text)));
    expect(redactor.digestOfPublic(`${text}abcdefgh`)).toBeUndefined();
  }
});

test("finds in bytes what a text of them holds", () => {
  const foreign = new Redactor([{ name: "WORD", value: "Grüße, Welt" }]);
  const around = (text: string) => Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from(text), Buffer.from([0xfc])]);
  expect(["Grüße, Welt", "ghp_".padEnd(40, "a")].map((text) => foreign.holdsSecretBytes(around(text)))).toEqual([true, true]);
  expect(["Grüße", "ghp_", "éghp_"].map((text) => foreign.holdsSecretBytes(around(text)))).toEqual([false, false, false]);
});

test("takes for secrets what is named like one", () => {
  const environment = { OPENAI_API_KEY: "1", GITHUB_TOKEN: "2", DB_PASSWORD: "3", HOME: "4", KEYBOARD: "5", EMPTY_KEY: "" };
  expect(environmentSecrets(environment).map(({ name }) => name)).toEqual(["OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD"]);
});

const pem = (body: string) => `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;

/** None of them was ever valid. */
const shaped: readonly (readonly [name: string, secret: string])[] = [
  ["api-key", "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2"],
  ["api-key", "sk-ant-api03-A1b2C3d4E5f6G7h8I9j0K1l2-x_y"],
  ["api-key", `sk_live_${"aB3".repeat(9)}`],
  ...["rk-", "sk_test_", "rk_live_", "rk_test_"].map((prefix) => ["api-key", prefix + "aB3".repeat(9)] as const),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => ["github-token", prefix + "aB3d".repeat(9)] as const),
  ["github-token", `github_pat_${"a1B_".repeat(20)}`],
  ["gitlab-token", "glpat-a1B2c3D4e5F6g7H8i9J0"],
  ["npm-token", `npm_${"aB3d".repeat(9)}`],
  ...["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"].map(
    (prefix) => ["slack-token", `${prefix}123456789012-abcdefABCDEF`] as const,
  ),
  ["slack-token", "xoxb-1234567890"],
  ["aws-key-id", "AKIAIOSFODNN7EXAMPLE"],
  ["aws-key-id", "ASIAIOSFODNN7EXAMPLE"],
  ["google-key", `AIza${"aB3_-".repeat(7)}`],
  ["jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.aB3dE6gH9jK_lM-n"],
  ["private-key", pem("MIIBOgIBAAJBAKj34Gkx\nFqd1")],
];

describe("what has the shape of a credential", () => {
  const shapes = new Redactor([]);

  test.each(shaped)("%s: %s", (name, secret) => {
    expect(shapes.text(secret)).toBe(`⟦secret:${name}⟧`);
    expect(shapes.json(secret)).toBe(`⟦secret:${name}⟧`);
    expect(shapes.text(`a "${secret}", b`)).toBe(`a "⟦secret:${name}⟧", b`);
    for (const before of ["", "\n", "\t", "\u0001"])
      expect(shapes.json({ key: [before + secret] })).toEqual({ key: [`${before}⟦secret:${name}⟧`] });
    const [inside] = shapes.json([JSON.stringify({ file: `A=1\n${secret}` })]);
    expect(inside).toContain(`A=1\\n⟦secret:${name}⟧`);
  });

  test.each([
    "sk-loading-indicator-of-a-long-name",
    "a task-A1b2C3d4E5f6G7h8I9j0K1l2",
    "AKIA",
    "eyJhbGciOiJIUzI1NiJ9",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "the eyes, npm_config_cache, and --- lines",
  ])("is not found in %s", (text) => {
    expect(shapes.text(text)).toBe(text);
  });

  test("is gone to the end of a text that breaks off in it", () => {
    expect(shapes.text(`x ${pem("MIIB").slice(0, 45)}`)).toBe("x ⟦secret:private-key⟧");
  });
});

/** Beginnings of secrets in the numbers that a hostile file can hold. */
const hostile = [
  "sk-",
  "-eyJ",
  "-eyJaaaaaaaaaaa.eyJ",
  "a",
  "-----BEGIN ",
  "-----BEGIN A ",
  "-----BEGIN PRIVATE KEY-----\n",
  "-----BEGIN PRIVATE KEY----------END ",
];

test.each(hostile)(
  "300 kB of %j take no time, whole, as JSON and in pieces",
  (unit) => {
    const half = unit.repeat(150_000 / unit.length);
    const text = `${half}.eyJ${half} `;
    const start = performance.now();
    const whole = redactor.text(text);
    expect(redactor.json([text])).toEqual([whole]);
    const stream = new RedactedStream(redactor);
    const shown: string[] = [];
    for (let at = 0; at < text.length; at += 16) shown.push(stream.push(text.slice(at, at + 16)));
    expect([...shown, stream.end()].join("")).toBe(whole);
    expect(performance.now() - start).toBeLessThan(15_000);
  },
  60_000,
);

test("a stream shows, however it is cut, what the whole text would", () => {
  const words = [
    "abcdefgh",
    "abcdefghij",
    "abc",
    "abcabcdefg",
    "s",
    "sk",
    "-",
    "-----",
    "eyJ",
    "\n",
    " ",
    "x",
    "\\n",
    "\\u000a",
    "n",
    ...shaped.map(([, secret]) => secret),
  ];
  const texts = fc.array(fc.oneof(fc.constantFrom(...words), fc.string()), { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
      const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
      const stream = new RedactedStream(redactor);
      const shown = at.slice(1).map((end, index) => stream.push(text.slice(at[index], end)));
      expect([...shown, stream.end()].join("")).toBe(redactor.text(text));
    }),
    { numRuns: 2000 },
  );
});

test("knows what was added to a list of secrets since another redactor was made of it", () => {
  const secrets = [{ name: "FIRST", value: "first-value" }];
  expect(new Redactor(secrets).text("first-value later-value")).toBe("⟦secret:FIRST⟧ later-value");
  secrets.push({ name: "LATER", value: "later-value" });
  expect(new Redactor(secrets).text("first-value later-value")).toBe("⟦secret:FIRST⟧ ⟦secret:LATER⟧");
});
