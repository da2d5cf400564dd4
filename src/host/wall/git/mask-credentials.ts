import type { GitSetting } from "./git-configuration.ts";
import { startsNothing } from "./git-harmless.ts";

const mask = "***";

/** Part of a name under which a password, a token or a header is kept. */
const secretName =
  /pass(?!ive)|pwd|token|secret|(?:api|access|private)[-_.]?key|bearer|auth(?!or|method)|extraheader|cookie(?!file)|\b(?:pat|key)\b/i;

/** Masks what could be a credential: users and passwords in addresses, headers, and what is called a password or a token. */
export function maskCredentials(setting: GitSetting): GitSetting {
  const { section, subsection, key, value } = setting;
  const isNamed = secretName.test(`${section} ${key}`) && key !== "helper";
  const isSecret = isNamed || (!startsNothing(setting) && givesCredential.test(value ?? ""));
  return {
    ...setting,
    subsection: subsection === undefined ? undefined : maskAddress(subsection),
    value: value === undefined ? undefined : isSecret ? mask : maskAddress(value),
  };
}

/** A line of a shell that hands a password, a token or a header to a program. */
const givesCredential =
  /(?:^|\s).*(?:authorization|bearer|passw|secret|token|api[-_]?key)|sshpass\s|\s(?:-u|--user)[\s=]*["']?[^\s:]+:/is;

function maskAddress(text: string): string {
  return text
    .replaceAll(/((?:\w:|^|[\s"'=(])\/\/)[^/\s]*@/g, `$1${mask}@`)
    .replace(/^([\w:+-]+:\/\/)[^/]*@/, `$1${mask}@`)
    .replace(/^[^\s/:@]+:[^\s/@]+@(?=[\w.[])/, `${mask}@`)
    .replaceAll(/([?&][^=&\s]*(?:token|pass|secret|key|sig)[^=&\s]*=)[^&\s]*/gi, `$1${mask}`);
}

/** A name and what stands behind it, in any of the forms that settings have: `key = value`, `key: value`, `"key" = value`. */
const named = /^(\s*["']?([\w.:-]+)["']?\s*[=:]\s*)/;

/**
 * Masks the same in a text of unknown form, line by line; a line that ends with a backslash goes on in the next one, and lines that are
 * indented below a secret belong to it. In a file of passwords each name has one. `file`: its name. Masks rather too much: such a text is shown, and read by nobody who needs it whole.
 */
export function maskLines(text: string, file = ""): string {
  const isOfSecrets = secretName.test(file);
  let isSecret = false;
  return text.replaceAll(/(?:[^\n]*\\\r?\n)*[^\n]+/g, (written) => {
    const line = written.replaceAll(/\\\r?\n/g, "");
    if (isSecret && /^[ \t]/.test(line)) return mask;
    const [, name = "", key = ""] = named.exec(line) ?? [];
    isSecret = secretName.test(key) || (isOfSecrets && key !== "");
    if (isSecret) return `${name}${mask}`;
    const masked = givesCredential.test(line) ? mask : maskAddress(line);
    return masked === line ? written : masked;
  });
}
