/** What a credential looks like whoever holds it: a prefix that its issuer documents, and enough characters after it. */
interface Shape {
  readonly name: string;
  /** One of these begins it. */
  readonly prefixes: readonly string[];
  /** What follows the prefix. */
  readonly rest: string;
}

// Mixed characters are asked for where the prefix alone could begin a word.
const mixed = "(?=[\\w-]*\\d)(?=[\\w-]*[A-Z])";

const shapes: readonly Shape[] = [
  { name: "api-key", prefixes: ["sk-", "rk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_"], rest: `${mixed}[\\w-]{20,}` },
  { name: "github-token", prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], rest: "[A-Za-z0-9]{36,}" },
  { name: "github-token", prefixes: ["github_pat_"], rest: "\\w{50,}" },
  { name: "gitlab-token", prefixes: ["glpat-"], rest: "[\\w-]{20,}" },
  { name: "npm-token", prefixes: ["npm_"], rest: "[A-Za-z0-9]{36}" },
  { name: "slack-token", prefixes: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"], rest: "[\\w-]{10,}" },
  { name: "aws-key-id", prefixes: ["AKIA", "ASIA"], rest: "[A-Z0-9]{16}(?![A-Za-z0-9])" },
  { name: "google-key", prefixes: ["AIza"], rest: "[\\w-]{35}" },
  { name: "jwt", prefixes: ["eyJ"], rest: "[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{10,}" },
];

const privateKey = "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\\s\\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----|$)";

/** A pattern of them all, to be combined with others: the name of what was found follows from its beginning. */
export const secretShapes: string = [
  ...shapes.map(({ prefixes, rest }) => `(?<![A-Za-z0-9])(?:${prefixes.join("|")})${rest}`),
  privateKey,
].join("|");

export function nameOfShape(found: string): string {
  return shapes.find(({ prefixes }) => prefixes.some((prefix) => found.startsWith(prefix)))?.name ?? "private-key";
}

const prefixes = shapes.flatMap((shape) => shape.prefixes);

/** Where at the end of a text something begins that could become one of them; the text's length where nothing does. */
export function openShapeAt(text: string): number {
  const key = Math.max(text.lastIndexOf("-----BEGIN "), 0);
  const isOpenKey = /^-----BEGIN (?:[A-Z0-9]+ )*(?:P|PRIVATE KEY-----(?![\s\S]*-----END )|$)/.test(text.slice(key));
  const dashes = /-{1,5}(?:B|BE|BEG|BEGI|BEGIN(?: [A-Z0-9 ]*)?)?$/.exec(text)?.index ?? text.length;
  return Math.min(isOpenKey ? key : text.length, dashes, openTokenAt(text));
}

function openTokenAt(text: string): number {
  const run = /[\w.-]+$/.exec(text);
  if (!run) return text.length;
  for (const { index } of run[0].matchAll(/(?<![A-Za-z0-9])[A-Za-z]/g)) {
    const rest = run[0].slice(index);
    if (prefixes.some((prefix) => rest.startsWith(prefix) || prefix.startsWith(rest))) return run.index + index;
  }
  return text.length;
}
