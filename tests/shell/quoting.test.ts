import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { loadCommandParser } from "../../src/toolsets/shell/parse/parse-command.ts";
import type { ShellWord } from "../../src/toolsets/shell/parse/plan.ts";
import { quoteWord, showWord } from "../../src/toolsets/shell/parse/quote.ts";
import { bash, Machine } from "./machine.ts";

const words = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 3000);
const machine = new Machine();
afterAll(() => machine.remove());
for (const name of ["ab", "a b", "-x", "b.ts", "c.ts", ".hidden", "q*"]) machine.put(`work/${name}`, "");

const plain = fc.string({
  unit: fc.constantFrom(...("abcxyz019_-./:@%+,=^é日😀#!{}~[]*?".match(/./gu) ?? [])),
  minLength: 1,
  maxLength: 5,
});
const anything = fc.string({
  unit: fc.constantFrom(...("ab \t\n'\"\\$`*?[]{}~!#&|;<>()é日-=".match(/./gsu) ?? [])),
  maxLength: 6,
});

const piece: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 3, arbitrary: anything.map((text) => `'${text.replaceAll("'", "")}'`) },
  { weight: 3, arbitrary: anything.map((text) => `"${text.replaceAll(/["`$\\]/g, (character) => `\\${character}`)}"`) },
  { weight: 2, arbitrary: anything.map((text) => `"${text.replaceAll(/["`$]/g, "")}"`.replace(/(\\+)"$/, '"')) },
  { weight: 2, arbitrary: fc.constantFrom(..."ab '\"\\$`*?[]{}~!#&|;<>()é日-=").map((character) => `\\${character}`) },
  {
    weight: 2,
    arbitrary: anything.map((text) => `$'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...`\\\n¦$'\\x41'¦$'\\x7e\\x27'¦$'\\xe9'¦$'\\101'¦$'\\u00e9'¦$'\\e'¦''¦""¦$HOME¦"$HOME"¦\${HOME}¦*¦?¦[a-c]¦*.ts¦{a,b}¦~`.split(
        "¦",
      ),
    ),
  },
);

const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));

interface Read {
  readonly text: string;
  readonly word: ShellWord;
}

/** Words that are one word for the parser, as the second of a command. */
async function readWords(wanted: (word: ShellWord) => boolean): Promise<readonly Read[]> {
  const parse = await loadCommandParser();
  const found: Read[] = [];
  for (const text of fc.sample(word, { numRuns: words * 2, seed: 20 })) {
    const plan = parse(`x ${text}`, [[]]);
    const [command] = plan.commands;
    const second = command?.words[1];
    const isOne =
      plan.uncertain === undefined && plan.refused === undefined && plan.commands.length === 1 && command?.words.length === 2;
    if (isOne && second !== undefined && command?.redirects.length === 0 && wanted(second)) found.push({ text, word: second });
  }
  return found.slice(0, words);
}

/** Runs many texts in a shell, each behind a mark of its own, and returns the words that it hands over. */
async function expand(texts: readonly string[], shell: readonly string[] = bash): Promise<readonly (readonly string[])[]> {
  const all: string[][] = [];
  for (let at = 0; at < texts.length; at += 50) {
    const script = texts
      .slice(at, at + 50)
      .map((text) => `printf '%s\\0' '<mark>' ${text}\n`)
      .join("");
    const { stdout } = await machine.run([...shell, script], {
      cwd: "work",
      environment: { PATH: "/usr/bin:/bin", HOME: "/home/u", LANG: "C.UTF-8" },
    });
    for (const value of stdout.toString("utf8").split("\0").slice(0, -1)) {
      if (value === "<mark>") all.push([]);
      else all.at(-1)?.push(value);
    }
  }
  return all;
}

test("expands static words as bash does", async () => {
  const read = await readWords(({ kind }) => kind === "static");
  expect(read.length).toBeGreaterThan(words * 0.4);
  const made = await expand(read.map(({ text }) => text));
  expect(made.length).toBe(read.length);
  const wrong = read.filter(({ word: one }, index) => JSON.stringify(made[index]) !== JSON.stringify([one.value]));
  expect(wrong).toEqual([]);
}, 60_000);

test.each([
  ["bash", bash],
  ["sh", ["sh", "-c"]],
] as const)(
  "words written anew mean the same to %s",
  async (_, shell) => {
    const read = await readWords(({ print }) => print !== undefined);
    const made = await expand(read.map(({ text }) => text));
    const again = await expand(
      read.map(({ word: one }) => one.print ?? ""),
      shell,
    );
    // Another shell knows other globs: there it is enough that static words are the same.
    const compared = read
      .map((one, index) => ({ ...one, made: made[index], again: again[index] }))
      .filter((one) => shell === bash || one.word.kind === "static");
    expect(compared.filter((one) => JSON.stringify(one.made) !== JSON.stringify(one.again))).toEqual([]);
  },
  60_000,
);

test("round-trips any text through quoting and showing", async () => {
  const texts = fc.sample(
    fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed() && !/[\0]/.test(text)),
    { numRuns: 500, seed: 7 },
  );
  const odd = ["", "-n", "if", "a=b", "~", "'", "''", "\\", "$x", "`x`", "a\nb", "a\tb", "!", "{a,b}", "*", "#x", "=x", "^"];
  const all = [...odd, ...texts];
  for (const write of [quoteWord, showWord]) {
    expect(await expand(all.map(write))).toEqual(all.map((text) => [text]));
  }
}, 60_000);

test("treats words that only a shell can expand as unknown", async () => {
  const parse = await loadCommandParser();
  const words = `$x $(x) \`x\` $((1)) ~ ~a {a,b} {1..2} $'\\xe9' $"x" a=~ a:~ @(a) \${x:-y} <(x)`.split(" ");
  for (const text of words) {
    expect(parse(`x ${text}`, [[]]).commands.at(-1)?.words[1]?.kind, text).toMatch(/^(dynamic|variable)$/);
  }
});

test.each(["time '-p' x y", "time '--' x", "! '-p' x | y", "time -p '-p' x"])(
  "%s is written anew with a program's name that is no option",
  async (line) => {
    const parse = await loadCommandParser();
    expect(parse(line, [[]]).script).toBe(line);
  },
);
