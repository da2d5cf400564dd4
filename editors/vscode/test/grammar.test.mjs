import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    if (scope === "source.yaml")
      return { scopeName: scope, patterns: [{ name: "keyword.yaml", match: "^\\w+(?=:)" }], repository: {} };
    return textmate.parseRawGrammar(
      readFileSync(new URL("../syntaxes/worker.tmLanguage.json", import.meta.url), "utf8"),
      "x.json",
    );
  },
});
const grammar = await registry.loadGrammar("text.llm-do-worker");

/** The scopes of the token that holds this text, on the first line that has it. */
function scopesOf(lines, text) {
  let stack = textmate.INITIAL;
  for (const line of lines) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    const at = line.indexOf(text);
    if (at >= 0) return tokens.find(({ startIndex, endIndex }) => startIndex <= at && at < endIndex)?.scopes ?? [];
    stack = ruleStack;
  }
  throw new Error(`no line has ${text}`);
}

const worker = [
  "---",
  "description: Greets {{ nobody }}.",
  "limits: { turns: 3 }",
  "---",
  "# Greeting",
  "Greet {{ name | upcase }} in `one` sentence. a: b",
  "{% if formal %}Bow.{% endif %}",
  "{% comment %}hidden{% endcomment %}{% raw %}{{ plain }}{% endraw %}",
  "---",
  "description: prose, too",
];

const cases = [
  ["limits", /keyword\.yaml/],
  ["nobody", /frontmatter/],
  ["# Greeting", /markup\.heading/],
  ["name |", /meta\.output.*variable/],
  ["upcase", /support\.function/],
  ["one", /markup\.inline\.raw/],
  ["if formal", /keyword\.control/],
  ["formal", /meta\.tag.*variable/],
  ["hidden", /comment/],
  ["plain", /meta\.raw/],
];
for (const [text, expected] of cases) test(`colours \`${text}\``, () => assert.match(scopesOf(worker, text).join(" "), expected));

test("ends the frontmatter at the second fence, and reads no YAML behind it", () => {
  assert.doesNotMatch(scopesOf(worker, "Bow").join(" "), /frontmatter/);
  assert.doesNotMatch(scopesOf(worker.slice(3), "description: prose").join(" "), /yaml/);
});

test("reads a file without frontmatter as prose", () =>
  assert.doesNotMatch(scopesOf(["Hello: you"], "Hello").join(" "), /yaml|frontmatter/));
