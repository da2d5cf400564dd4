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
};
