import { styleText } from "node:util";
import { renderMarkdown } from "../../ui/tui/markdown.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { writeResult, writeStyled } from "../output.ts";
import { type DocPage, listTopics, readPage, readTextForModels, sectionsOf } from "../programs/read-pages.ts";
import { renderColumns } from "../render-columns.ts";

/**
 * `llm-do docs [TOPIC]`: the pages of the package. A topic is the name of a page, or else the heading of a section, such as a flag or the
 * code of a diagnostic. A terminal gets it laid out; a pipe or a file gets the Markdown.
 */
export async function docsCommand(words: readonly string[], { llms }: { readonly llms?: boolean }): Promise<number> {
  if (llms && words.length > 0) throw new UsageError("--llms prints a text of its own: leave the topic out");
  if (llms) await writeResult(readTextForModels());
  else if (words.length === 0) await writeStyled(renderTopics());
  else await writeStyled(renderFound(findText(words.join(" "))));
  return exitCodes.done;
}

function renderTopics(): string {
  const rows = listTopics().map((topic) => [topic, readPage(topic).title.replaceAll("`", "")]);
  return `${renderColumns(rows)}\nllm-do docs TOPIC prints a page; the heading of a section or the code of a diagnostic is a topic, too\n`;
}

function findText(words: string): string {
  const topics = listTopics();
  const name = words.toLowerCase().replace(/^docs\/|\.md$/g, "");
  if (topics.includes(name)) return readPage(name).text;
  const pages = topics.map(readPage);
  const wanted = plain(words);
  const exact = findSections(pages, (heading) => heading === wanted);
  if (exact !== undefined) return exact;
  const [page, ...others] = pages.filter(({ topic }) => topic.startsWith(name));
  if (page && others.length === 0) return page.text;
  const found = findSections(pages, (heading) => heading.includes(wanted));
  if (found !== undefined) return found;
  const near = nearestNames(name, topics);
  throw new UsageError(
    `no page and no heading of the documentation is \`${words}\`; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : "llm-do docs lists the pages"}`,
  );
}

/** The fitting sections of all pages, each below the name of its page; undefined if there are none. */
function findSections(pages: readonly DocPage[], fits: (heading: string) => boolean): string | undefined {
  const sections = pages.flatMap((page) => {
    const inner = sectionsOf(page, (heading) => fits(plain(heading)));
    return inner.map(({ text }) => `*llm-do docs ${page.topic}*\n\n${text}`);
  });
  return sections.length === 0 ? undefined : sections.slice(0, mostSections).join("\n");
}

/** More are no answer. */
const mostSections = 5;

function plain(heading: string): string {
  return heading.replaceAll("`", "").toLowerCase().trim();
}

function renderFound(markdown: string): string {
  const { stdout } = process;
  if (!stdout.isTTY) return markdown;
  const style: Parameters<typeof renderMarkdown>[1]["style"] = (formats, text) =>
    formats.length === 0 ? text : styleText([...formats], text, { stream: stdout });
  return `${renderMarkdown(markdown, { columns: Math.min(stdout.columns || 80, widest), style }).join("\n")}\n`;
}

/** Longer lines are hard to read. */
const widest = 100;
