// Reads Markdown as far as the tests of the documentation need it: fenced blocks, links, headings, command lines.

/**
 * A fenced block. Its info string is a language and marks: `file=NAME` puts it into the document's program folder,
 * `error=CODE` says that it is a mistake, `run` that it runs, `stdout` that it is what the block before prints. `walk` and
 * `exit=CODE` are read by `tests/package/walk.test.ts`.
 */
export interface Block {
  readonly language: string;
  readonly marks: ReadonlyMap<string, string>;
  readonly text: string;
  readonly line: number;
}

export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const [, indent = "", fence, info = ""] = /^(\s*)(`{3,})\s*(.*)$/.exec(line) ?? [];
    if (!open && fence !== undefined) open = { indent, fence, info: info.trim(), line: index + 1, lines: [] };
    else if (open && fence !== undefined && fence.length >= open.fence.length && info === "") {
      blocks.push(toBlock(open));
      open = undefined;
    } else open?.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart());
  }
  if (open) throw new Error(`the block that begins in line ${open.line} is not closed`);
  return blocks;
}

interface OpenBlock {
  readonly indent: string;
  readonly fence: string;
  readonly info: string;
  readonly line: number;
  readonly lines: string[];
}

function toBlock({ info, line, lines }: OpenBlock): Block {
  const [language = "", ...marks] = info.split(/\s+/);
  const text = lines.map((one) => `${one}\n`).join("");
  return { language, line, text, marks: new Map(marks.map((mark) => splitAt(mark, "="))) };
}

function splitAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The text without its blocks and code spans. */
export function proseOf(markdown: string): string {
  let fence = "";
  const lines = markdown.split("\n").map((line) => {
    const [, found = ""] = /^\s*(`{3,})/.exec(line) ?? [];
    if (found === "") return fence === "" ? line : "";
    fence = fence === "" ? found : "";
    return "";
  });
  return lines.join("\n").replace(/`[^`\n]*`/g, "``");
}

export function linksOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  let fenced = false;
  const anchors = new Set<string>();
  for (const line of markdown.split("\n")) {
    if (/^\s*```/.test(line)) fenced = !fenced;
    const [, heading] = (!fenced && /^#{1,6}\s+(.*)$/.exec(line)) || [];
    if (heading === undefined) continue;
    const plain = heading.replaceAll("`", "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const slug = plain
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The arguments of every `llm-do` in a block of shell commands. */
export function commandLinesOf(shell: string): string[][] {
  const found: string[][] = [];
  for (const line of shell.replace(/\\\n\s*/g, " ").split("\n")) {
    for (const words of splitCommands(line)) {
      const command = words.findIndex((word) => !/^\w+=/.test(word) && word !== "$" && word !== "npx");
      if (words[command] === "llm-do") found.push(words.slice(command + 1));
    }
  }
  return found;
}

/** Words of each simple command; redirections are left out. Knows quotes, comments, `;`, `|`, `&`, and nothing else. */
function splitCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  let redirects = false;
  for (const [token] of line.matchAll(/#.*$|&&|\|\||[;|&]|\d?[<>]+&?\d?|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&<>])+/g)) {
    if (/^#/.test(token)) break;
    if (/^(&&|\|\||[;|&])$/.test(token)) commands.push([]);
    else if (/^\d?[<>]/.test(token)) redirects = !/&\d$/.test(token);
    else if (redirects) redirects = false;
    else commands.at(-1)?.push(token.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double, single) => double ?? single));
  }
  return commands;
}
