const blanks = String.raw`[ \t]*`;
/** End of a command: nothing, `;`, a line end, `}` or a comment. */
const end = String.raw`${blanks}(?=[;\n}#]|$)`;

/** Letters and digits as delimiters are legal, and only ever meant to confuse. */
const delimiter = String.raw`[^A-Za-z0-9\s\\[\]{}^$.*]`;

/** Text up to the delimiter that the named group holds, and the delimiter. */
const text = (name: string) => String.raw`(?:\\[^]|(?!\k<${name}>)[^\\\n])*\k<${name}>`;

/** The same for a regular expression. Seds disagree on delimiters and backslashes in brackets: those are not understood. */
function regex(name: string): string {
  const other = String.raw`(?!\k<${name}>)`;
  const kind = `${name}Class`;
  const characterClass = String.raw`\[(?:(?![:.=])|${other}(?<${kind}>[:.=])(?:${other}(?!\k<${kind}>\])[^])*\k<${kind}>\])`;
  const brackets = String.raw`\[(?!\^?\])\^?(?:${characterClass}|${other}[^\]\\\n\[])*\]`;
  return String.raw`(?:\\[^]|${brackets}|${other}[^\\\n\[])*\k<${name}>`;
}

/** A number, `$`, `first~step`, `/regex/` or `\cregexc`. */
const address = (name: string) => String.raw`(?:\$|\d+(?:~\d*)?|(?:(?=\/)|\\)(?<${name}>${delimiter})${regex(name)}[IM]*)`;

const addresses = `${address("from")}?${blanks}(?:,${blanks}(?:[+~]${address("step")}?|${address("to")})${blanks})?(?:!${blanks})*`;

const commands = [
  String.raw`\{`,
  String.raw`\}${end}`,
  String.raw`#[^\n]*`,
  `s(?<s>${delimiter})${regex("s")}${text("s")}[gpiIMm0-9]*${end}`,
  `y(?<y>${delimiter})${text("y")}${text("y")}${end}`,
  // The text goes to the end of the line. A backslash takes the next line with it.
  String.raw`[aic](?:\\[^]|[^\n])*`,
  // GNU's sed reads on behind a blank as a new command, so nothing may stand there.
  `[btT:]${blanks}[A-Za-z0-9_]*${end}`,
  `[qQlL]${blanks}[0-9]*${end}`,
  `[dDgGhHnNpPxzF=]${end}`,
];

const command = new RegExp(`${addresses}(?<command>${commands.join("|")})`, "y");
const between = /[ \t\n;]*/y;

/** True where a script for sed only edits the stream. A positive list: a script that is not understood is not harmless. */
export function isHarmlessSedScript(script: string): boolean {
  let depth = 0;
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(script);
    at += found?.[0].length ?? 0;
    return found;
  };
  for (take(between); at < script.length; take(between)) {
    const found = take(command)?.groups?.["command"];
    if (found === "{") depth++;
    if (found === undefined || (found.startsWith("}") && --depth < 0)) return false;
  }
  return depth === 0;
}
