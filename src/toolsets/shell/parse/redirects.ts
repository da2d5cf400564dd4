import type { HereDoc, Redirect, Redirection } from "unbash";
import type { PlannedRedirect, ShellWord } from "./plan.ts";
import { quoteLiteral } from "./quote.ts";
import { readWord } from "./words.ts";

/** A redirection as it was read. `print` is undefined if only the original text says the same. */
export interface ReadRedirect extends PlannedRedirect {
  readonly print: string | undefined;
}

const freeFiles = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);

export function readRedirect(redirection: Redirection): ReadRedirect {
  if (redirection.type === "HereDoc") return readHereDocument(redirection);
  const target = redirection.target === undefined ? undefined : readWord(redirection.target);
  const isNamed = redirection.descriptor?.type === "FileDescriptorVariable";
  if (target === undefined || isNamed) return { type: "write", target, print: undefined };
  const descriptor = redirection.descriptor?.type === "FileDescriptor" ? String(redirection.descriptor.value) : "";
  if (redirection.type === "HereString") {
    const print = target.kind === "static" ? `${descriptor}<<< ${quoteLiteral(target.value)}` : undefined;
    return { type: "text", target, print };
  }
  return readFileRedirect(redirection, target, descriptor);
}

function readFileRedirect({ operator }: Redirect, target: ShellWord, descriptor: string): ReadRedirect {
  const isStatic = target.kind === "static";
  const isDescriptor = (operator === ">&" || operator === "<&") && isStatic && isDescriptorTarget(target.value);
  const isFree = isDescriptor || (isStatic && freeFiles.has(target.value) && operator !== "<>");
  if (isFree) return { type: "free", target, print: printFree(operator, target.value, descriptor) };
  const print = isStatic ? printFile(operator, quoteLiteral(target.value), descriptor) : undefined;
  return { type: operator === "<" ? "read" : "write", target, print };
}

/** As every shell reads it. `>|` differs from `>` only where somebody set `noclobber`; `<>` is left to a person's eye. */
function printFile(operator: Redirect["operator"], file: string, descriptor: string): string | undefined {
  if (operator === "<" || operator === ">" || operator === ">>") return `${descriptor}${operator} ${file}`;
  if (operator === ">|") return `${descriptor}> ${file}`;
  if (descriptor !== "") return undefined;
  if (operator === "&>" || operator === ">&") return `> ${file} 2>&1`;
  return operator === "&>>" ? `>> ${file} 2>&1` : undefined;
}

/** `1`, `-`: another descriptor, or none. All digits, by hand: `2file` is a file. */
function isDescriptorTarget(target: string): boolean {
  return target === "-" || (target.length === 1 && target >= "0" && target <= "9");
}

/** As every shell reads it, not bash alone. */
function printFree(operator: Redirect["operator"], target: string, descriptor: string): string {
  if (operator === "&>" || operator === "&>>") return `> ${target} 2>&1`;
  if (operator === ">&" && target.startsWith("/")) return `> ${target} 2>&1`;
  return operator.endsWith("&") ? `${descriptor}${operator}${target}` : `${descriptor}${operator} ${target}`;
}

/** A text that no shell changes on the way becomes a here-string; nothing can hide behind its last line. */
function readHereDocument(document: HereDoc): ReadRedirect {
  const { text, parts } = document.body;
  const isLiteral = document.delimiter?.quoted === true || !/[\\$`]/.test(text);
  const isWhole = document.closing !== undefined && document.operator === "<<" && document.descriptor === undefined;
  const isKnown = isLiteral && isWhole && (parts ?? []).every((part) => part.type === "Literal");
  const print = text.endsWith("\n") ? `<<< ${quoteLiteral(text.slice(0, -1))}` : "< /dev/null";
  return { type: "text", target: undefined, print: isKnown && (text === "" || text.endsWith("\n")) ? print : undefined };
}
