import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Source } from "../diagnostics/source.ts";
import type { JsonObject } from "../protocol/json.ts";
import { readFields, recordSchema } from "./shapes/collection-shapes.ts";
import { describeNode } from "./shapes/node-problems.ts";
import type { ReadContext } from "./shapes/shape.ts";
import { commonTestKeys, type TestCaseSyntax, testKeys } from "./shapes/test-shape.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";

/** The cases of a test file, each with the keys that the file has for all of them. */
export interface ParsedTestFile {
  /** Empty if the file could not be read. */
  readonly cases: readonly TestCaseSyntax[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The JSON Schema of test files, for editors. */
export const testFileSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "*.test.yaml",
  ...recordSchema(testKeys),
};

/** Reads a `*.test.yaml`. Reports all mistakes; never throws. */
export function parseTestFile(source: Source): ParsedTestFile {
  const diagnostics = new DiagnosticList();
  const { report } = diagnostics;
  const context: ReadContext = { path: "", report };
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  const root = parseYaml({ source, start, end: source.text.length }, report);
  if (root.kind !== "map") {
    const message = `a test file has to be a map, not ${describeNode(root)}`;
    if (root.kind !== "unreadable") report("manifest-not-map", { message, span: root.span, note: "write `cases:` and a list" });
    return { cases: [], diagnostics: diagnostics.toArray() };
  }
  const entries = root.entries.filter(({ key }) => !key.value.startsWith("x-"));
  const read = readFields({ ...root, entries }, testKeys, context);
  const common = Object.entries(read ?? {}).filter(([key]) => Object.hasOwn(commonTestKeys, key));
  const shared = Object.fromEntries(common.map(([key, { value }]) => [key, value]));
  const names = new Set<string>();
  const cases = (read?.cases.value ?? []).map((own): TestCaseSyntax => {
    const { name, script, recording, input, from } = own;
    if (names.has(name.value)) report("invalid-value", { message: `there are two cases \`${name.value}\``, span: name.span });
    names.add(name.value);
    if (from && (input || recording))
      report("invalid-value", {
        message: `a case has \`from\` or \`${input ? "input" : "recording"}\`, not both`,
        span: from.span,
      });
    if (script && recording)
      report("invalid-value", { message: "a case has a script or a recording, not both", span: recording.span });
    const { script: _, ...rest }: Partial<TestCaseSyntax> = shared;
    return { ...(recording ? rest : shared), ...own };
  });
  const { script } = read ?? {};
  if (script && cases.length > 0 && cases.every(({ recording }) => recording))
    report("invalid-value", {
      message: "every case has a recording, so this script would play nothing",
      span: script.value.span,
    });
  return { cases, diagnostics: diagnostics.toArray() };
}
