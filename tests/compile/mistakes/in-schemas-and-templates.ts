import type { Mistakes } from "./mistake.ts";

export const inSchemasAndTemplates: Mistakes = {
  call: {
    files: { "main.worker": "---\ninput: { company: string }\n---\nHello {{ company.name() }}\n" },
    reports: ["template-syntax main.worker:4:22 error"],
    says: ["there are no functions to call: values are changed by filters, such as `{{ name | upcase }}`"],
  },
  render: {
    files: { "main.worker": '---\n\n---\n{% render "persn.md" %}\n', "person.md": "x" },
    reports: ["template-include main.worker:4:11 error"],
    says: ["did you mean `person.md`?"],
  },
  filter: {
    files: { "main.worker": "---\ninput: { company: string }\n---\nHello {{ company | uper }}\n" },
    reports: ["template-filter main.worker:4:20 error"],
    says: ["it is called `upcase` here"],
  },
  "type sting": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { type: sting } } }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:49 error"],
    says: ["did you mean `string`?"],
  },
  "variable misspelt": {
    files: { "main.worker": "---\ninput: { company: string }\n---\nEvaluate {{ compny }}.\n" },
    reports: ["template-variable main.worker:4:13 error"],
    says: ["did you mean `company`?"],
  },
  "type misspelt": {
    files: { "main.worker": "---\ninput: { company: strng }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:19 error"],
    says: ["did you mean `string`?"],
  },
  "required as true": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { a: { type: string, required: true } } }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:67 error"],
    says: ["write `required: [name]` beside `properties`, with the names of the fields"],
  },
  "type of several": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { type: [string, nul] } } }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:58 error"],
    says: ["did you mean `null`?"],
  },
  "misspelt inside items": {
    files: {
      "main.worker":
        "---\noutput: { type: object, properties: { a: { type: array, items: { type: string, minLenght: 3 } } } }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:80 error"],
    says: ["did you mean `minLength` or `maxLength`?"],
  },
  "unknown keyword": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { type: string, hint: a firm } } }\n---\nYou help.\n" },
    reports: ["schema-keyword-unknown main.worker:2:57 warning"],
    says: ["it means nothing to a validator: delete it, or begin it with `x-`"],
  },
  "filter for if": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{% if a && a %}x{% endif %}\n" },
    reports: ["template-syntax main.worker:4:9 error"],
    says: ["“and” is written `and`"],
  },
  "mustache block": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{{#a}}x{{/a}}\n" },
    reports: ["template-syntax main.worker:4:3 error", "template-syntax main.worker:4:10 error"],
    says: ["a block is written `{% if … %}…{% endif %}` or `{% for … in … %}…{% endfor %}`"],
  },
  "required misspelt": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { name: { type: string } }, required: [nmae] }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:75 error"],
    says: ["did you mean `name`?"],
  },
  "required undeclared": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { name: { type: string } }, required: [colour] }\n---\nYou help.\n",
    },
    reports: ["schema-keyword-unknown main.worker:2:75 warning"],
    says: ["declare it there"],
  },
  "enum as text": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { enum: 'low, high' } } }\n---\nYou help.\n" },
    reports: ["schema-keyword main.worker:2:49 error"],
    says: ["write `enum: [low, high]`"],
  },
  "default of another type": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { a: { type: integer, default: few } } }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:67 error"],
    says: ["`input.properties.a.default` is the text `few`, and the type is `integer`"],
  },
  "length as text": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { a: { type: string, minLength: few } } }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:68 error"],
    says: ["`input.properties.a.minLength` is a whole number from 0, not the text `few`"],
  },
  "reference to nowhere": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { $ref: '#/definitions/x' } } }\n---\nYou help.\n" },
    reports: ["schema-invalid main.worker:2:50 error"],
    says: ["can't resolve reference #/definitions/x"],
  },
  "pattern broken": {
    files: { "main.worker": "---\ninput: { type: object, properties: { a: { type: string, pattern: '(' } } }\n---\nYou help.\n" },
    reports: ["schema-keyword main.worker:2:66 error"],
    says: ["is no regular expression: Unterminated group"],
  },
  "format misspelt": {
    files: {
      "main.worker": "---\ninput: { type: object, properties: { a: { type: string, format: e-mail } } }\n---\nYou help.\n",
    },
    reports: ["schema-keyword-unknown main.worker:2:65 warning"],
    says: ["did you mean `email`?"],
  },
  "properties as list": {
    files: { "main.worker": "---\ninput: { type: object, properties: [a, b] }\n---\nYou help.\n" },
    reports: ["schema-keyword main.worker:2:36 error"],
    says: ["write `name: { type: string }`, a name on each line"],
  },
  "types of Python": {
    files: { "main.worker": "---\ninput: { n: int, s: str }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:13 error", "schema-type main.worker:2:21 error"],
    says: ["did you mean `integer`?", "did you mean `string`?"],
  },
  "optional type": {
    files: { "main.worker": "---\ninput: { n: string? }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:13 error"],
    says: ["the mark after its name: `n?: string`"],
  },
  "list type": {
    files: { "main.worker": "---\ninput: { n: 'string[]' }\n---\nYou help.\n" },
    reports: ["schema-type main.worker:2:14 error"],
    says: ["a list is written `n(array): string`"],
  },
  "choice as list": {
    files: { "main.worker": "---\ninput: { level: [low, high] }\n---\nYou help.\n" },
    reports: ["schema-notation main.worker:2:17 error"],
    says: ["a choice between values is written `level(enum): [low, high]`"],
  },
  "list of objects as list": {
    files: { "main.worker": "---\noutput:\n  lines:\n    - name: string\n      price: number\n---\nYou help.\n" },
    reports: ["schema-notation main.worker:4:5 error"],
    says: ["a list of values is written `lines(array): { name: string, price: number }`"],
  },
  "output as list": {
    files: { "main.worker": "---\noutput: [string]\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:9 error"],
    says: ["write `summary: string`, a field on each line"],
  },
  "schema without its export": {
    files: {
      "main.worker": "---\noutput: ./schemas.ts\n---\nYou help.\n",
      "schemas.ts": "export const Report = { type: 'object' };\n",
    },
    reports: ["schema-type main.worker:2:9 error"],
    says: ["`./schemas.ts:Name`"],
  },
  "schema's export misspelt": {
    files: {
      "main.worker": "---\noutput: ./schemas.ts:Reprt\n---\nYou help.\n",
      "schemas.ts": "export const Report = { type: 'object' };\n",
    },
    reports: ["export-missing main.worker:2:9 error"],
    says: ["did you mean `Report`?"],
  },
  "schema's file misspelt": {
    files: {
      "main.worker": "---\noutput: ./schema.ts:Report\n---\nYou help.\n",
      "schemas.ts": "export const Report = { type: 'object' };\n",
    },
    reports: ["reference-missing main.worker:2:9 error"],
    says: ["did you mean `./schemas.ts`?"],
  },
  "braces unclosed": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{{ a }\n" },
    reports: ["template-syntax main.worker:4:1 error"],
    says: ["this `{{` is not closed by `}}`"],
  },
  "if unclosed": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{% if a %}x\n" },
    reports: ["template-syntax main.worker:4:1 error"],
    says: ["this `if` is not closed by `{% endif %}`"],
  },
  elif: {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{% if a %}x{% elif a %}y{% endif %}\n" },
    reports: ["template-tag main.worker:4:12 error"],
    says: ["write `{% elsif … %}`"],
  },
  include: {
    files: { "main.worker": "---\n\n---\n{% include 'x.md' %}\n", "x.md": "x" },
    reports: ["template-tag main.worker:4:1 error"],
    says: ['write `{% render "file.md" %}`'],
  },
  set: {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{% set x = a %}\n" },
    reports: ["template-tag main.worker:4:1 error"],
    says: ["write `{% assign name = … %}`"],
  },
  "filter without a colon": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{{ a | truncate 3 }}\n" },
    reports: ["template-syntax main.worker:4:17 error"],
    says: ["a colon belongs between a filter and its arguments"],
  },
  "braces of Python": {
    files: { "main.worker": "---\ninput: { company: string }\n---\nEvaluate {company}.\n" },
    reports: ["template-dollar main.worker:4:10 warning"],
    says: ["write `{{ company }}`"],
  },
  "comment of Jinja": {
    files: { "main.worker": "---\ninput: { a: string }\n---\n{# note #}\nUse {{ a }}.\n" },
    reports: ["template-dollar main.worker:4:1 warning"],
    says: ["write `{% comment %}…{% endcomment %}`"],
  },
};
