import type { CatalogueEntry } from "../catalogue-entry.ts";

/** Mistakes in the text of one file: reported by the language room. */
export const languageCodes = {
  "frontmatter-missing": {
    severity: "error",
    title: "No frontmatter",
    explanation:
      "A worker file begins with settings between two lines `---`, even if there are none to make. Without them a text is not taken for a worker, so that no stray file is run. Put two lines `---` above the instructions.",
  },
  "frontmatter-not-first": {
    severity: "error",
    title: "Something stands before the frontmatter",
    explanation: "The opening `---` has to be the first line of the file. Delete what stands above it, blank lines included.",
  },
  "frontmatter-fence": {
    severity: "error",
    title: "A fence that is not just three dashes",
    explanation:
      "A fence is a line of exactly `---` at the margin. There is one language of frontmatter, YAML read as data: `---js` and the like are not supported, because a file that is read must never run code. Write `---` alone on its line.",
  },
  "frontmatter-unclosed": {
    severity: "error",
    title: "The frontmatter does not end",
    explanation:
      "The frontmatter ends with a second line `---`. Without it there is no telling where the instructions begin. Add the line, at the margin, above the instructions.",
  },
  "frontmatter-too-large": {
    severity: "error",
    title: "The frontmatter is too large",
    explanation:
      "Frontmatter is for settings, and is read up to 65 536 characters. Long text belongs under the closing `---`, long data into a file that a tool reads.",
  },
  "frontmatter-not-map": {
    severity: "error",
    title: "The frontmatter is not a map of keys",
    explanation:
      "Frontmatter is a map: lines of `key: value`. A list, a bare word or `key:value` without the space after the colon are something else to YAML.",
  },
  "yaml-syntax": {
    severity: "error",
    title: "Not YAML",
    explanation:
      "The frontmatter could not be read as YAML 1.2 at this place. The key that it belongs to is left out, the others are checked all the same. When in doubt, put the value in quotes.",
  },
  "yaml-colon": {
    severity: "error",
    title: "A colon in a value without quotes",
    explanation:
      "A colon with a space or a line's end after it begins a map in YAML, also in the middle of a sentence. Put the whole value in quotes, or write it as a block under `>-`.",
  },
  "yaml-tab": {
    severity: "error",
    title: "A tab in the indentation",
    explanation: "YAML is indented with spaces; tabs are refused, because editors disagree on how wide they are.",
  },
  "yaml-comment": {
    severity: "warning",
    withoutEffect: true,
    title: "A comment cuts the value short",
    explanation:
      "In a value without quotes, a `#` after a space begins a comment: what follows is not part of the value. Put the value in quotes if it should be, or the comment on a line of its own if it is one.",
  },
  "yaml-flow-comma": {
    severity: "error",
    title: "A comma ends the value",
    explanation:
      "Between braces a comma ends an entry, so the rest of the sentence became a key without a value. Put the value in quotes, or write one entry a line without braces.",
  },
  "yaml-flow-dollar": {
    severity: "error",
    title: "A variable between braces needs quotes",
    explanation: "Between braces or brackets a `{` begins a map, also after a dollar sign. Put the value in quotes.",
  },
  "yaml-tag": {
    severity: "error",
    title: "A YAML tag that is not supported",
    explanation:
      "Frontmatter is plain data: strings, numbers, booleans, null, lists and maps. Tags that ask for another type, such as `!!js/function` or `!include`, are refused rather than ignored. Remove the tag; if the `!` belongs to the text, put the value in quotes.",
  },
  "yaml-alias": {
    severity: "error",
    title: "A `*` that refers to nothing",
    explanation:
      "In YAML a value that begins with `*` refers to an anchor (`&name`) further up. A glob has to be put in quotes. An anchor has to stand before it is referred to, and cannot contain itself.",
  },
  "yaml-alias-expansion": {
    severity: "error",
    title: "Aliases that expand to too much",
    explanation:
      "References to anchors may be nested, and so a few lines can stand for billions of values. The frontmatter is read up to 10 000 values, repeated ones included. Write the values out where they are needed.",
  },
  "yaml-merge-key": {
    severity: "error",
    title: "`<<` is not supported",
    explanation:
      "The merge key belongs to YAML 1.1. Frontmatter is YAML 1.2, where it has no meaning, and silently ignoring it would lose settings. Write the keys out, or refer to a whole value with `*name`.",
  },
  "yaml-nesting": {
    severity: "error",
    title: "Nested too deep",
    explanation: "Frontmatter may be nested 64 levels deep. Nothing that is meant to be read by people comes near to that.",
  },
  "duplicate-key": {
    severity: "error",
    title: "A key is written twice",
    explanation: "A map cannot have two values for one key, and choosing one of them silently would hide the other. Delete one.",
  },
  "unknown-key": {
    severity: "error",
    title: "No such key",
    explanation:
      "A misspelt setting that is ignored is a setting that is not made, so unknown keys are errors. Your own keys are welcome at the top level if they begin with `x-`.",
  },
  "missing-key": {
    severity: "error",
    title: "A required key is missing",
    explanation: "This map needs the key that the message names. The reference of the worker format lists what belongs where.",
  },
  "missing-value": {
    severity: "error",
    title: "A key without a value",
    explanation:
      "A key with nothing after it, or with `null` or `~`, has no value in YAML. Write the value, or delete the key to get the default. A text that looks like null has to be put in quotes.",
  },
  "wrong-type": {
    severity: "error",
    title: "A value of the wrong type",
    explanation:
      "YAML decides by its looks what a value is: `3000` is a number, `true` a boolean, `yes` and `1_000` are strings, `[a]` is a list. Write the type that the key takes; quotes make anything a string.",
  },
  "invalid-value": {
    severity: "error",
    title: "A value that is not allowed here",
    explanation: "The value has the right type, but is none that this key takes. The message says which ones are.",
  },
  "invalid-name": {
    severity: "error",
    title: "Not a name",
    explanation:
      "Names become names of tools and of paths that models type, so they are letters, digits, `_` and `-`, begin with a letter and have 64 characters at most.",
  },
  "invalid-suffix": {
    severity: "error",
    title: "Not a file suffix",
    explanation: "A suffix is the end of a file's name from a dot on, such as `.pdf` or `.tar.gz`; case makes no difference.",
  },
  "inexact-number": {
    severity: "error",
    title: "A number that cannot be kept exactly",
    explanation:
      "Long integers, `.inf` and `.nan` would arrive changed or not at all. An identifier that only looks like a number has to be put in quotes.",
  },
  "empty-list": {
    severity: "error",
    title: "A list without entries",
    explanation:
      "An empty list could be taken for “none” as well as for “any”. Delete the key if there is no restriction to make; otherwise list what is allowed.",
  },
  "model-conflict": {
    severity: "error",
    title: "`model` and `compatible_models` together",
    explanation:
      "`model` says which model the worker runs on, `compatible_models` says among which ones its user may choose. Keep one of them.",
  },
  "toolsets-list": {
    severity: "error",
    title: "`toolsets` is a list",
    explanation:
      "`toolsets` is a map from each toolset to its configuration, so that a configuration has a place to stand. One without configuration gets `{}`.",
  },
  "schema-notation": {
    severity: "error",
    title: "Not the short notation of a schema",
    explanation:
      "A field is `name: type, description`, an optional one `name?: …`. A list is `name(array, description): type`, a map `name(object, description):` with fields under it, a choice `name(enum, description): [a, b]`. Anything else can be said in JSON Schema.",
  },
  "schema-type": {
    severity: "error",
    title: "No such type",
    explanation:
      "The types of the short notation are `string`, `number`, `integer`, `boolean`, `null`, `any` and `attachment`. Lists, maps and choices are written with `(array)`, `(object)` and `(enum)` after the field's name.",
  },
  "schema-keyword": {
    severity: "error",
    title: "A wrong keyword of JSON Schema",
    explanation:
      "JSON Schema ignores what it does not know, so that a misspelt keyword checks nothing: with `requred` no field is required. A keyword with a value of another form cannot be used, or refuses every input. Correct it, as the note shows.",
  },
  "schema-keyword-unknown": {
    severity: "warning",
    withoutEffect: true,
    title: "A word that JSON Schema does not have",
    explanation:
      "No validator acts on a keyword or a format that JSON Schema does not know, and no value can be given for a required field that is not declared. Keywords of your own begin with `x-`; anything else is best deleted.",
  },
  "schema-dialect": {
    severity: "error",
    title: "Another dialect of JSON Schema",
    explanation:
      "Schemas are JSON Schema 2020-12. Older drafts differ in details that would pass unnoticed. Delete `$schema`, or name 2020-12, once the schema is one.",
  },
  "input-not-object": {
    severity: "error",
    title: "`input` has to have fields",
    explanation:
      "A worker is called like a tool, by the names of its fields, so its input is always a map. For a single text, declare one field: `input: { input: string }`, which is also what a worker without `input` takes.",
  },
  "old-spelling": {
    severity: "hint",
    title: "A key that has another name by now",
    explanation:
      "The key is read under its name of today, and its value stays as it is. Rename it, so that readers find it in the reference.",
  },
  "removed-key": {
    severity: "error",
    title: "A key of older worker files",
    explanation:
      "What the key said is said elsewhere or in another form by now, so it cannot be read as it stands. The note shows what to write instead.",
  },
  "inline-code": {
    severity: "error",
    title: "Code in a worker file",
    explanation:
      "Reading a worker file never runs anything: that is what lets you check a program that you do not trust yet, and what keeps a text that a model wrote from becoming code. Code lives in `tools.ts`, where it has types and tests, and a worker names it under `toolsets`.",
  },
  "python-reference": {
    severity: "error",
    title: "A reference to Python code",
    explanation:
      "Toolsets and schemas are TypeScript: `./file.ts:Export` for a file of the program, `package:Export` for an npm package, or the bare name of a built-in or of an export of `tools.ts`. Class paths such as `package.module.Class` and `file.py:Class` cannot be loaded.",
  },
  "server-tool-approval": {
    severity: "error",
    title: "Approvals for a tool that the provider executes",
    explanation:
      "Calls of a server-side tool never pass by the harness, so no question can be asked for one of them. Enabling the tool is what is asked for, once, at the start of the run. Delete `_approval_config`.",
  },
  "server-tool-domains": {
    severity: "error",
    title: "`allowed_domains` and `blocked_domains` together",
    explanation:
      "The one list says which hosts alone are reached, the other says which are not. Providers take one of them. Keep the one that you mean.",
  },
  "template-syntax": {
    severity: "error",
    title: "Not a template",
    explanation:
      "A text with `{{` or `{%` in it is a template: `{{ field }}` prints a field of the input, `{% if … %}…{% endif %}` and `{% for … in … %}…{% endfor %}` choose and repeat. What stands here is neither. Braces that belong to the prose stand between `{% raw %}` and `{% endraw %}`.",
  },
  "template-variable": {
    severity: "error",
    title: "No such variable",
    explanation:
      "The variables of a template are the fields of the worker's `input`, and what `for`, `assign` and `capture` define above. A name that is none of them would print nothing in every call. Correct it, or declare the field.",
  },
  "template-dollar": {
    severity: "warning",
    withoutEffect: true,
    title: "The notation of another template",
    explanation:
      "Templates print a field as `{{ field }}`. `$field`, `${field}`, `{field}` and `{# … #}` are text like any other, and reach the model as they stand.",
  },
  "template-filter": {
    severity: "error",
    title: "No such filter",
    explanation:
      "Filters change a value on its way into the text: `{{ name | upcase }}`. The reference of the worker format lists them with the arguments that they take. None of them runs code, reads a file or looks at the clock.",
  },
  "template-tag": {
    severity: "error",
    title: "No such tag",
    explanation:
      "The tags are `if`, `unless`, `case`, `for`, `assign`, `capture`, `render`, `comment` and `raw`, with the words that belong to them. More logic than they allow belongs into a tool.",
  },
  "template-include": {
    severity: "error",
    title: "A file that cannot be rendered",
    explanation:
      "`{% render \"rubric.md\" %}` puts in a file of the worker's folder, or of the program's `templates/`. The path is written out in quotes, is relative and has no `..` in it, so that no input and no template can reach another file.",
  },
  "template-cycle": {
    severity: "error",
    title: "Files that render each other",
    explanation:
      "A file that renders itself, be it by way of others, would never come to an end. Take what they share into a file of its own.",
  },
  "template-too-large": {
    severity: "error",
    title: "A template that is too large",
    explanation:
      "A template has at most 200 000 characters, 10 000 places to fill in with 2 000 characters each, and 50 blocks in one another, and renders at most 100 files with 1 000 000 characters in all. Long text without places to fill in belongs into `fragments`.",
  },
} as const satisfies Record<string, CatalogueEntry>;
