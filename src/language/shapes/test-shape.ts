import type { Spanned } from "../../diagnostics/source.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Limits } from "../../protocol/usage.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { limitsShape } from "../worker-keys.ts";
import type { SyntaxNode } from "../yaml/syntax-node.ts";
import { type Fields, list, mapOf, type NamedValue, type RecordOf, record } from "./collection-shapes.ts";
import { json, jsonMap } from "./json-shape.ts";
import { refuseValue } from "./node-problems.ts";
import { boolean, checkName, integer, number, oneOf, text } from "./scalar-shapes.ts";
import { outputShape } from "./schema-shape.ts";
import { refined, type Shape, type ShapeValue, spanned } from "./shape.ts";
import { programPath } from "./text-shapes.ts";
import { type ValuesOf, valuesOf } from "./values-of.ts";

/** The members of a record without their places. */
function plain<const F extends Fields>(fields: F, note: string): Shape<ValuesOf<RecordOf<F>>> {
  return refined(record(fields, { note }), valuesOf);
}

/** A map by names, as plain data. */
function plainMap<T>(shape: Shape<T>, note: string, checkName?: CheckName): Shape<Readonly<Record<string, T>>> {
  const toMap = (read: readonly NamedValue<T>[]) => Object.fromEntries(read.map(({ name, value }) => [name.value, value.value]));
  return refined(mapOf(shape, { note, ...(checkName ? { checkName } : {}) }), toMap);
}

type CheckName = typeof checkName;

/** The name of a scope, or `.` for that of a program that declares none. */
const checkScope: CheckName = (name, node, context) => name === "." || checkName(name, node, context);

/** A path that stays in the folder that it is relative to. */
const checkPathWithin: CheckName = (path, node, { report }) => {
  if (!/^(?:[/~]|[A-Za-z]:)|\\|\0|(?:^|\/)\.\.(?:\/|$)/.test(path)) return true;
  const message = `\`${clipText(path, 60)}\` is not a path in the program's folder`;
  report("invalid-value", { message, span: node.span, note: "write a path below it, with `/` between folders" });
  return false;
};

/** A value whose form depends on the kind of its node. `wanted` continues "has to be". */
function byKind<T>(forms: Partial<Record<SyntaxNode["kind"], Shape<T>>>, wanted: string): Shape<T> {
  return {
    jsonSchema: { anyOf: Object.values(forms).map(({ jsonSchema }) => jsonSchema) },
    read(node, context) {
      const shape = forms[node.kind];
      return shape ? shape.read(node, context) : refuseValue(node, context, { wanted });
    },
  };
}

const texts = byKind<readonly string[]>(
  { scalar: refined(text(), (one) => [one]), list: list(text()) },
  "a text or a list of texts",
);

const pattern = refined(text(), (written, node, { path, report }) => {
  try {
    return new RegExp(written, "su");
  } catch {
    const message = `\`${path}\` is not a regular expression`;
    return report("invalid-value", { message, span: node.span, note: "write one of JavaScript, without slashes around it" });
  }
});

/** Conditions on a value. Every member has to hold. */
export interface Matcher {
  readonly equals?: JsonValue;
  /** All of them. */
  readonly contains?: readonly string[];
  readonly matches?: RegExp;
  /** JSON Schema. */
  readonly schema?: JsonObject;
  /** By paths of keys and indices in the value: `items.0.name`. */
  readonly path?: Readonly<Record<string, Matcher>>;
}

const schema = refined(outputShape, (read, node, { path, report }) => {
  if (read.kind === "data") return read.jsonSchema;
  return report("invalid-value", { message: `\`${path}\` has to be a schema as data`, span: node.span });
});

const matcherFields = {
  equals: { shape: json(), description: "The whole value, as text or data." },
  contains: { shape: texts, description: "Texts that the value holds; data is compared as JSON text." },
  matches: { shape: pattern, description: "A regular expression that fits somewhere in the value; `.` is any character." },
  schema: { shape: schema, description: "The form of the value: `{ score: integer }`, or a JSON Schema." },
} as const;

const matcherNote = "write `{ contains: … }`, or with `equals`, `matches`, `schema`";
const exact: Shape<Matcher> = refined(json(), (equals) => ({ equals }));
const innerMatcher = byKind<Matcher>(
  { scalar: exact, list: exact, map: plain(matcherFields, matcherNote) },
  "a value or a map such as `{ contains: … }`",
);
const pathMatchers = {
  shape: plainMap(innerMatcher, "write `{ items.0.name: … }`"),
  description: "Expectations of parts of the value, by their path: `items.0.name`.",
};
const matcher = byKind<Matcher>(
  { scalar: exact, list: exact, map: plain({ ...matcherFields, path: pathMatchers }, matcherNote) },
  "a value or a map such as `{ contains: … }`",
);

/** Bounds on the number of calls of a tool. */
export interface CallExpectation {
  readonly times?: number;
  /** Default 1, where `times` is absent. */
  readonly at_least?: number;
  readonly at_most?: number;
  /** Only calls with these arguments count: texts are patterns with `*`. */
  readonly args?: Readonly<Record<string, JsonValue>>;
}

const callFields = {
  times: { shape: integer({ min: 0 }), description: "Exactly so many calls." },
  at_least: { shape: integer({ min: 0 }), default: 1, description: "So many calls or more." },
  at_most: { shape: integer({ min: 0 }), description: "So many calls or fewer." },
  args: {
    shape: jsonMap({ note: 'write `{ path: "reports/*" }`' }),
    description: "Only calls with these arguments count; in texts `*` is any run of characters.",
  },
} as const;

const callExpectation = byKind<CallExpectation>(
  {
    scalar: refined(integer({ min: 0 }), (times) => ({ times })),
    map: plain(callFields, "write a number, or `{ at_least: 1, args: { path: … } }`"),
  },
  "a number of calls or a map",
);
const calls = mapOf(callExpectation, { note: "write `{ write_file: 1 }`, by the tool's name or `worker/tool`" });

/** A file in the scratch copy after the run. False: there is none. */
export type FileExpectation = boolean | Matcher;

const fileExpectation = byKind<FileExpectation>(
  {
    scalar: {
      jsonSchema: { type: ["boolean", "string"] },
      read: (node, context): FileExpectation | undefined =>
        node.kind === "scalar" && typeof node.value === "boolean" ? boolean().read(node, context) : exact.read(node, context),
    },
    map: plain(matcherFields, matcherNote),
  },
  "`true`, `false`, the file's text, or a map such as `{ contains: … }`",
);

const expectedFiles: Shape<Readonly<Record<string, FileExpectation>>> = refined(
  mapOf(fileExpectation, {
    note: "write `{ reports/a.md: { contains: … } }`",
    checkName: (path, { span }, { report }) => {
      if (!/^(?:[/~]|[A-Za-z]:)|(?:^|\/)\.\.(?:\/|$)/.test(path)) return true;
      const note = "write a path in the program's folder, such as `out/a.md`; outside of the copy nothing is looked at";
      report("invalid-value", { message: `\`${clipText(path, 60)}\` leads out of the copy of the program`, span, note });
      return false;
    },
  }),
  (read) => Object.fromEntries(read.map(({ name, value }) => [name.value, value.value])),
);

const limits: Shape<Limits> = refined(limitsShape, (read) => valuesOf(read) as Limits);

/** A worker of the program that scores the output. */
const judge = plain(
  {
    worker: {
      shape: spanned(programPath),
      required: true,
      description: "The worker that scores the output, relative to this file.",
    },
    at_least: { shape: number({ min: 0 }), required: true, description: "The lowest score that passes." },
    script: { shape: spanned(programPath), description: "The file that plays its model, where the case has a script." },
  },
  "write `{ worker: judge.worker, at_least: 4 }`",
);

const expectFields = {
  output: { shape: matcher, description: "What the entry answers." },
  stop: {
    shape: oneOf(["done", "limit", "cut", "denied", "failed"]),
    default: "done",
    description: "How the run ends.",
  },
  error: { shape: matcher, description: "The message of a run that fails; `stop` is then `failed` by default." },
  files: {
    shape: expectedFiles,
    description: "Files that the run writes, by their path in the program's folder or a pattern with `*`; `false`: none.",
  },
  calls: { shape: calls, description: "Calls of tools and workers that are made, by `tool` or `worker/tool`." },
  never: { shape: list(spanned(text())), description: "Tools that are not called, by `tool` or `worker/tool`; `*` is any." },
  asked: { shape: calls, description: "Calls for which an approval is asked." },
  refused: { shape: calls, description: "Calls that are denied or blocked." },
  succeeded: { shape: calls, description: "Calls that are executed, and do not fail." },
  limits: { shape: limits, description: "The most that the run uses; `turns` are answers of a model in all calls." },
  judge: { shape: judge, description: "A worker that scores the output." },
} as const;

const expect = refined(plain(expectFields, "write `{ output: { contains: … } }`"), (read, node, { path, report }) => {
  if (Object.keys(read).length > 0) return read;
  const message = `\`${path}\` is empty: every run that ends would pass`;
  return report("invalid-value", { message, span: node.span, note: "write what has to hold, such as `{ stop: done }`" });
});

/** A file that is put into the scratch copy: another one, relative to the test file, or a text. */
export type FileSource = { readonly from: Spanned<string> } | { readonly text: string };

const fileSource = byKind<FileSource>(
  {
    scalar: refined(spanned(programPath), (from) => ({ from })),
    map: plain({ text: { shape: text(), required: true, description: "The file's content." } }, "write `{ text: … }`"),
  },
  "the path of a file or folder, or `{ text: … }`",
);

const ruleOfTest = refined(spanned(text()), (rule, node, { report }) => {
  if (rule.value !== "all") return rule;
  return report("invalid-value", { message: "`all` is no rule", span: node.span, note: "write `approve: all`" });
});

const rulesOrAll = byKind<"all" | readonly Spanned<string>[]>(
  { scalar: oneOf(["all"], { none: "delete the key: without it nothing is approved" }), list: list(ruleOfTest) },
  "`all` or a list of rules",
);

/** Keys that a case can have and that a file can have for all of its cases. */
export const commonTestKeys = {
  script: { shape: spanned(programPath), description: "The file that plays the model, relative to this file." },
  model: { shape: text(), description: "The model of workers that name none, for `--live` and `--record`." },
  entry: { shape: text(), description: "Another entry: a worker's name, or code as `tools.ts:main`." },
  set: { shape: list(text()), description: "Keys over what the files say, as `--set`: `key=value`, `worker.key=value`." },
  env: {
    shape: plainMap(text(), "write `{ NAME: value }`"),
    description: "Variables for `${NAME}` in the program's files; `${FOLDER}` in a value is the scratch copy.",
  },
  files: {
    shape: plainMap(fileSource, "write `{ input/: fixtures/decks/ }`", checkPathWithin),
    description: "Files that are put into the scratch copy, by their path there: a path relative to this file, or `{ text: … }`.",
  },
  scopes: {
    shape: plainMap(spanned(programPath), "write `{ notes: fixtures/notes }`", checkScope),
    description: "Folders that are copied and stand for declared scopes: a scope's name to a path relative to this file.",
  },
  without: { shape: list(spanned(programPath)), description: "Files and folders of the program that the scratch copy lacks." },
  approve: {
    shape: rulesOrAll,
    description: "`all`: questions are approved. Or rules as `--approve` takes them. Without it every question is denied.",
  },
  tools: {
    shape: oneOf(["recorded", "real"]),
    default: "recorded",
    description: "With a recording: `real` runs all tools, `recorded` only those for files.",
  },
  limits: { shape: limits, description: "Limits of each run." },
  runs: { shape: integer({ min: 1 }), description: "How often the case runs with `--live`, where `--runs` does not say it." },
  pass_rate: {
    shape: number({ min: 0, max: 1 }),
    default: 1,
    description: "The share of runs that has to pass. The case fails where the interval of the observed rate lies below it.",
  },
} as const;

export const testCaseKeys = {
  name: { shape: spanned(text()), required: true, description: "What the case shows, in a few words." },
  input: { shape: spanned(json()), description: "The entry's input: a text, or a map of its fields." },
  from: {
    shape: spanned(programPath),
    description: "A case file of `llm-do calls --out`, in the place of `input`: each line is a case, which expects its output.",
  },
  attachments: { shape: list(spanned(programPath)), description: "Files for the entry, relative to this file." },
  recording: {
    shape: spanned(programPath),
    description: "The recorded answers of the model, relative to this file. `llm-do test --record` makes it.",
  },
  expect: { shape: expect, description: "What has to hold of the run." },
  ...commonTestKeys,
} as const;

export const testCaseShape = plain(testCaseKeys, "write `- name: …`");

export type TestCaseSyntax = ShapeValue<typeof testCaseShape>;
export type Expectations = ShapeValue<typeof expect>;

/** The table of what a test file may say. */
export const testKeys = {
  cases: { shape: list(testCaseShape, { nonEmpty: true }), required: true, description: "The cases." },
  ...commonTestKeys,
} as const;
