import { expect, it } from "vitest";
import { renderMarkdown } from "./markdown.ts";
import { MarkdownStream } from "./markdown-stream.ts";

const marked = {
  columns: 30,
  style: (formats: readonly string[], text: string) => (formats[0] ? `<${formats}>${text}</>` : text),
};
const plain = { columns: 30, style: (_: readonly string[], text: string) => text };

const document = `# Report

Some **bold** words, \`code\` and [a link](http://example.org) &amp; more text that wraps.

- one
- two
  - three

1. first
2. second

| name | value |
|---|---|
| a | 1 |

> quoted

\`\`\`ts
const a = 1;
\`\`\`

The end.`;

it("renders blocks and inline text", () => {
  expect(renderMarkdown(document, plain)).toMatchInlineSnapshot(`
    [
      "Report",
      "",
      "Some bold words, code and a ",
      "link (http://example.org) & ",
      "more text that wraps.",
      "",
      "• one",
      "• two",
      "  • three",
      "",
      "1. first",
      "2. second",
      "",
      "name  value",
      "a     1    ",
      "",
      "│ quoted",
      "",
      "    const a = 1;",
      "",
      "The end.",
    ]
  `);
  expect(renderMarkdown("**b** *i* `c`", marked)).toEqual(["<bold>b</> <italic>i</> <cyan>c</>"]);
});

it("escapes what a terminal would obey, reorder or hide, in text, code and links", () => {
  const hostile = "a\x1b[2J\u202Eb `\x07\u2066` [x](http://e\x1b]0;t)\n\n```\n\x9b\u{E0041}\n```";
  const rows = renderMarkdown(hostile, { ...plain, columns: 80 }).join("\n");
  expect(rows).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u{E0041}]/u);
  expect(rows).toContain("a\\u{1B}[2J\\u{202E}b");
});

it("settles the same rows whatever the pieces are", () => {
  const whole = renderMarkdown(document, plain);
  for (const size of [1, 3, 7, 50]) {
    const stream = new MarkdownStream();
    const rows: string[] = [];
    for (let at = 0; at < document.length; at += size) {
      stream.push(document.slice(at, at + size));
      rows.push(...stream.settle(plain));
    }
    rows.push(...stream.end(plain));
    expect(rows).toEqual(whole);
  }
});

it("keeps the open part short in a long block of code", () => {
  const stream = new MarkdownStream();
  stream.push("```\n");
  let rows = 0;
  for (let line = 0; line < 5000; line++) {
    stream.push(`line ${line}\n`);
    if (line % 100 === 99) rows += stream.settle(plain).length;
  }
  expect(stream.rest(plain).length).toBeLessThan(600);
  expect(rows + stream.end(plain).length).toBe(5000);
});
