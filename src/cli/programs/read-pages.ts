import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A page of the package's documentation. */
export interface DocPage {
  /** `approval`, or `examples/greeter`. */
  readonly topic: string;
  readonly title: string;
  readonly text: string;
}

/** A heading of a page with all that is below it. */
export interface DocSection {
  readonly heading: string;
  readonly text: string;
}

/** The folder of the package, whether it is installed, built or run from its sources. */
export function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve("llm-do/package.json")));
}

/** Topics in the order of their names; the README is `readme`. */
export function listTopics(): readonly string[] {
  const pages = readdirSync(join(packageFolder(), "docs")).filter((name) => name.endsWith(".md"));
  return ["readme", ...pages.map((name) => name.slice(0, -".md".length)).sort()];
}

export function readPage(topic: string): DocPage {
  const path = topic === "readme" ? "README.md" : join("docs", `${topic}.md`);
  const text = readFileSync(join(packageFolder(), path), "utf8");
  return { topic, title: /^# (.+)$/m.exec(text)?.[1] ?? topic, text };
}

/** The text that a model gets which is to write programs. */
export function readTextForModels(): string {
  return readFileSync(join(packageFolder(), "docs/llms.txt"), "utf8");
}

/** The sections of a page whose heading fits; code blocks hold no headings. */
export function sectionsOf({ text }: DocPage, fits: (heading: string) => boolean): readonly DocSection[] {
  const lines = text.split("\n");
  const headings = findHeadings(lines);
  return headings.flatMap(({ heading, depth, line }, index) => {
    if (!fits(heading)) return [];
    const next = headings.slice(index + 1).find((other) => other.depth <= depth);
    return [{ heading, text: `${lines.slice(line, next?.line).join("\n").trimEnd()}\n` }];
  });
}

function findHeadings(lines: readonly string[]) {
  let isFenced = false;
  return lines.flatMap((text, line) => {
    if (/^\s*```/.test(text)) isFenced = !isFenced;
    const [, marks, heading] = (!isFenced && /^(#{1,6}) +(.+)$/.exec(text)) || [];
    return marks === undefined || heading === undefined ? [] : [{ heading, depth: marks.length, line }];
  });
}
