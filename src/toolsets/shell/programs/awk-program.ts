import { nameSet } from "../../../util/name-set.ts";

/** True where a program for awk only reads its input and prints. A program that is not understood is not harmless. */
export function isHarmlessAwkProgram(program: string): boolean {
  return looksHarmless(program) || new AwkReader().read(program);
}

/** Looks at the raw text, strings and expressions included: no part could be a call, a pipe or a redirected print. */
function looksHarmless(program: string): boolean {
  if ([...dangerousNames, "@", "\\\n"].some((word) => program.includes(word))) return false;
  if (program.replaceAll("||", "").includes("|")) return false;
  const print = program.indexOf("print");
  return print === -1 || !program.slice(print).replaceAll(">=", "").includes(">");
}

/** Names that run programs, read other files, or lead to names that do. */
const dangerousNames = ["system", "getline", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO"];

/** Names behind which a `/` could begin a regular expression or divide. */
const unclearBeforeSlash = nameSet(
  "print printf return in case do else if while for delete exit next nextfile length function func BEGIN END",
);

/** Awks disagree on slashes, backslashes and leading brackets in brackets: those are not understood. */
const regex = /\/(?:[^/\\[\n]|\\[^\n]|\[\^?(?:\[:[a-z]+:\]|[^\][/\\\n^])(?:\[:[a-z]+:\]|[^\][/\\\n])*\])*\//y;

/** Blanks and comments, line ends, names, other operands, signs. */
const token = new RegExp(
  [
    String.raw`[ \t]+|#[^\n]*`,
    String.raw`(?<line>\n)`,
    String.raw`(?<name>[A-Za-z_]\w*)`,
    String.raw`(?<operand>0[xX][\dA-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|"(?:[^"\\\n]|\\[^\n])*")`,
    String.raw`(?<sign>\+\+|--|\|\||&&|>=|<=|==|!=|\+=|-=|\*=|%=|\^=|!~|[-{}()[\];,+*%^!<>|?:~$=/])`,
  ].join("|"),
  "y",
);

/** Reads an awk program as tokens, in search of what it could write, run or read elsewhere. */
class AwkReader {
  #depth = 0;
  /** The depth of parentheses that the current `print` stands at. */
  #printDepth: number | undefined;
  /** `unclear`: a `/` that follows could begin a regular expression or divide; the grammar knows, and not the token. */
  #last: "operand" | "unclear" | "sign" = "sign";
  /** A line's end is not the statement's, as behind a comma. */
  #continues = false;

  read(program: string): boolean {
    for (let at = 0; at < program.length; ) {
      const isRegex = program[at] === "/" && this.#last !== "operand";
      if (isRegex && this.#last === "unclear") return false;
      const pattern = isRegex ? regex : token;
      pattern.lastIndex = at;
      const found = pattern.exec(program);
      if (found === null || !this.#take(found.groups ?? { operand: found[0] })) return false;
      at = pattern.lastIndex;
    }
    return this.#depth === 0;
  }

  /** False where the token could do harm. */
  #take({ line, name, operand, sign }: { readonly [type: string]: string | undefined }): boolean {
    if (line !== undefined && !this.#continues) this.#endStatement();
    if (name !== undefined || operand !== undefined) {
      this.#continues = false;
      this.#last = name !== undefined && unclearBeforeSlash.has(name) ? "unclear" : "operand";
    }
    if (name === "print" || name === "printf") this.#printDepth = this.#depth;
    return (name === undefined || !dangerousNames.includes(name)) && (sign === undefined || this.#sign(sign));
  }

  #endStatement(): void {
    this.#last = "sign";
    if (this.#depth === this.#printDepth) this.#printDepth = undefined;
  }

  #sign(sign: string): boolean {
    this.#continues = [",", "{", "&&", "||", "?", ":"].includes(sign);
    this.#last = sign === "]" ? "operand" : [")", "++", "--"].includes(sign) ? "unclear" : "sign";
    if (sign === "|") return false;
    if (sign === ">") return this.#printDepth === undefined || this.#depth > this.#printDepth;
    if (sign === "(") this.#depth++;
    if (sign === ")" && --this.#depth < 0) return false;
    if (";{}".includes(sign)) this.#printDepth = undefined;
    return true;
  }
}
