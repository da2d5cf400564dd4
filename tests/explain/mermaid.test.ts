import { expect, test } from "vitest";
import { renderMermaid } from "../../src/ui/explain/render-mermaid.ts";
import { escapeText } from "../../src/util/text/escape-text.ts";
import { hostile, hostileOutline } from "./hostile.ts";
import { parseFlowchart } from "./mermaid-syntax.ts";
import { outlineOfExample, outlineOfNewsroom } from "./programs.ts";

/** `main asks write_file`. */
function sentencesOf(text: string): string[] {
  const { nodes, edges } = parseFlowchart(text);
  const nameOf = (id: string) => nodes.get(id)?.split("\n")[0];
  return edges.map(({ from, label, to }) => `${nameOf(from)} ${label} ${nameOf(to)}`);
}

test("the example: workers with their models, tools as leaves, edges that say what happens", async () => {
  const chart = renderMermaid(await outlineOfExample());
  expect([...parseFlowchart(chart).nodes.values()].slice(0, 2)).toEqual([
    "main\nanthropic:claude-sonnet-4-5",
    "pitch_evaluator\nanthropic:claude-sonnet-4-5",
  ]);
  expect(sentencesOf(chart)).toEqual([
    "main allowed read_file",
    "main allowed list_files",
    "main allowed search_files",
    "main asks write_file",
    "main asks append_file",
    "main asks edit_file",
    "main allowed pitch_evaluator",
  ]);
});

test("recursion and calls of code lead back to the workers", async () => {
  const sentences = sentencesOf(renderMermaid(await outlineOfNewsroom({ trust: true })));
  expect(sentences).toEqual(
    expect.arrayContaining([
      "editor asks main",
      "editor asks editor",
      "main asks review",
      "review may call deep",
      "review may call free",
    ]),
  );
});

test("code that was not looked at, and an entry that is code", async () => {
  expect(sentencesOf(renderMermaid(await outlineOfNewsroom({ trust: false })))).toContain("main unverified review");
  const sentences = sentencesOf(renderMermaid(await outlineOfNewsroom({ trust: true, entry: "tools.ts:start" })));
  expect(sentences).toContain("start may call main");
});

test("no text of a program is taken for syntax, and all of it can be read", () => {
  const chart = renderMermaid(hostileOutline);
  const { nodes, edges } = parseFlowchart(chart);
  const shown = escapeText(hostile, { keepBackslashes: true });
  expect([...nodes.values()]).toEqual([`${shown}\n${shown}`, shown, `${shown}!`, shown]);
  expect(edges.map(({ label }) => label)).toEqual(["blocked", "may call", "may call", "unverified", "asks"]);
});

test("the checker of the syntax finds what is wrong", () => {
  for (const wrong of ['  a["x"]', 'flowchart LR\n  a["x"y"]', "flowchart LR\n  a[x]", 'flowchart LR\n  end["x"]'])
    expect(() => parseFlowchart(wrong)).toThrow();
  expect(() => parseFlowchart('flowchart LR\n  a["x"]\n  a -->|asks| b')).toThrow("no node b");
});
