import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";
import { renderDiagnostic } from "./render-diagnostic.ts";
import { toJsonDiagnostic } from "./to-json-diagnostic.ts";

function show(text: string, quoted = "it") {
  const span = { source: { name: "config.yaml", text }, start: 0, end: 3 };
  const diagnostic = diagnose("unknown-key", { message: `not \`${quoted}\``, span });
  return { text: renderDiagnostic(diagnostic), json: JSON.stringify(toJsonDiagnostic(diagnostic)) };
}

test.each([
  ["openai_api_key: sk-proj-AbCdEf0123456789AbCdEf0123456789", "sk-proj-AbCdEf0123456789AbCdEf0123456789"],
  ["keys: { mistral: abCd1EFg234hIjK5678901234567 }", "abCd1EFg234hIjK5678901234567"],
  ["azure: 0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"],
  ["headers: { Authorization: Bearer abcd1234efgh }", "abcd1234efgh"],
  ["env: { DB: 'postgres://me:hunter22@host/db' }", "hunter22"],
  ["password: correcthorse", "correcthorse"],
  ['const apiKey = "abcdefg12345";', "abcdefg12345"],
  ["env: [NPM_TOKEN=abcdefghi1]", "abcdefghi1"],
])("masks the secret of %s wherever it would be shown", (line, secret) => {
  const { text, json } = show(line, secret);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(secret.slice(0, 8));
  expect(json).not.toContain(secret);
  expect(text).toContain("llm-do keys set");
});

test("masks a secret that a message cuts", () => {
  expect(show("token: abcdefgh12345678", "token: abcdefg…").text).toContain("not `token: ********…`");
});

test.each([
  "tokens: 100000",
  "key: description of it",
  "api_key: ${OPENAI_API_KEY}",
  "headers: { Authorization: Bearer ${TOKEN1234} }",
  "model: anthropic:claude-sonnet-4-5-20250929",
  "const token = process.env.TOKEN1234;",
  "const key = makeKey1234(value);",
  "import { convertBase64ToUtf8String } from './x.ts'",
])("shows %s as it is", (line) => {
  const { text } = show(line);
  expect(text).toContain(line.slice(0, 40));
  expect(text).not.toContain("keys set");
});

test("keeps the carets where they were", () => {
  const text = "token: abcdefgh12345678 # x";
  const span = { source: { name: "main.worker", text }, start: 7, end: 23 };
  expect(
    renderDiagnostic(diagnose("wrong-type", { message: "m", span }))
      .split("\n")
      .slice(3, 5),
  ).toEqual(["1 | token: **************** # x", "  |        ^^^^^^^^^^^^^^^^"]);
});
