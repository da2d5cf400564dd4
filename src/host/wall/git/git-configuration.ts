/** One line of a configuration. Names are lower-case, but for the subsection. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  /** Undefined if the key stands alone, which means `true`. */
  readonly value: string | undefined;
}

/**
 * Reads a configuration as git does (`git-config(1)`, Syntax). Undefined if git would refuse it. A section without keys is left
 * out.
 */
export function parseGitConfiguration(text: string): readonly GitSetting[] | undefined {
  const settings: GitSetting[] = [];
  let section: Pick<GitSetting, "section" | "subsection"> | undefined;
  let rest = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  for (;;) {
    rest = rest.replace(/^(?:\s+|[#;].*)+/, "");
    if (rest === "") return settings;
    const header = sectionHeader.exec(rest);
    if (header !== null) {
      const [all, name = "", subsection] = header;
      const [first = "", ...old] = name.toLowerCase().split(".");
      section = { section: first, subsection: subsection?.replace(/\\(.)/gs, "$1") ?? (old.join(".") || undefined) };
      rest = rest.slice(all.length);
      continue;
    }
    const key = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=[ \t]*)?/.exec(rest);
    if (section === undefined || key === null) return undefined;
    rest = rest.slice(key[0].length);
    const value = key[2] === undefined ? readNothing(rest) : readValue(rest);
    if (value === undefined) return undefined;
    settings.push({ ...section, key: (key[1] ?? "").toLowerCase(), value: key[2] === undefined ? undefined : value.text });
    rest = rest.slice(value.length);
  }
}

/** `[core]`, `[remote "origin"]`, and the old `[remote.origin]`. */
const sectionHeader = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]/;

interface ReadValue {
  readonly text: string;
  /** Characters of the file, up to the end of its last line. */
  readonly length: number;
}

/** Behind a key that stands alone there is a comment at most. */
function readNothing(rest: string): ReadValue | undefined {
  return /^(?:[#;\n]|$)/.test(rest) ? { text: "", length: 0 } : undefined;
}

const escaped: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"', "\n": "" };

function readValue(rest: string): ReadValue | undefined {
  let text = "";
  /** Blanks at the end that are not quoted are dropped. */
  let kept = 0;
  let isQuoted = false;
  let at = 0;
  for (; at < rest.length && rest[at] !== "\n"; at++) {
    const character = rest.charAt(at);
    if (!isQuoted && (character === "#" || character === ";")) {
      at += rest.slice(at).search(/\n|$/);
      break;
    }
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") {
      const meant = escaped[rest.charAt(++at)];
      if (meant === undefined) return undefined;
      text += meant;
    } else text += character;
    if (isQuoted || !/\s/.test(character)) kept = text.length;
  }
  return isQuoted ? undefined : { text: text.slice(0, kept), length: at };
}

/** Writes settings so that git reads the same. */
export function printGitConfiguration(settings: readonly GitSetting[]): string {
  return settings
    .map(({ section, subsection, key, value }) => {
      const name = subsection === undefined ? section : `${section} "${subsection.replace(/["\\]/g, "\\$&")}"`;
      return `[${name}]\n\t${key}${value === undefined ? "" : ` = ${quote(value)}`}\n`;
    })
    .join("");
}

function quote(value: string): string {
  const text = value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b");
  return `"${text}"`;
}
