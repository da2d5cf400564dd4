import { nameSet } from "../../../util/name-set.ts";

/** Whether a program for awk only reads its input and prints. Own positive list: what is not understood is not harmless. */
export function isHarmlessAwkProgram(program: string): boolean {
  return looksHarmless(program) || new AwkReader(program).read();
}

/** Of the raw text, strings and expressions included: nothing in it could be a call, a pipe or a redirected print. */
function looksHarmless(program: string): boolean {
  if ([...dangerousNames, "@", "\\\n"].some((word) => program.includes(word))) return false;
  if (program.replaceAll("||", "").includes("|")) return false;
  const print = program.indexOf("print");
  return print === -1 || !program.slice(print).replaceAll(">=", "").includes(">");
}

/** They run programs, read other files, or lead to names that do. */
const dangerousNames = ["system", "getline", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO"];

/** Names behind which a `/` could begin a regular expression or divide. */
const unclearBeforeSlash = nameSet(
  "print printf return in case do else if while for delete exit next nextfile length function func BEGIN END",
);

const name = /[A-Za-z_]\w*/y;
const number = /(?:0[xX][\dA-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const text = /"(?:[^"\\\n]|\\[^\n])*"/y;
/** Awks disagree on slashes, backslashes and leading brackets in brackets: those are not understood. */
const regex = /\/(?:[^/\\[\n]|\\[^\n]|\[\^?(?:\[:[a-z]+:\]|[^\][/\\\n^])(?:\[:[a-z]+:\]|[^\][/\\\n])*\])*\//y;
const comment = /#[^\n]*/y;
const sign = /\+\+|--|\|\||&&|>=|<=|==|!=|\+=|-=|\*=|%=|\^=|!~|[-{}()[\];,+*%^!<>|?:~$=/]/y;

type TokenType = "operand" | "unclear" | "sign";

/** Reads an awk program as tokens, in search of what it could write, run or read elsewhere. */
class AwkReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** The depth of parentheses that the current `print` stands at. */
  #printDepth: number | undefined;
  #last: TokenType = "sign";
  /** A line's end is not the statement's, as behind a comma. */
  #continues = false;

  constructor(program: string) {
    this.#text = program;
  }

  read(): boolean {
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (character === "\n") this.#line();
      else if (!" \t".includes(character)) {
        if (!this.#token(character)) return false;
        continue;
      }
      this.#at++;
    }
    return this.#depth === 0;
  }

  #line(): void {
    if (this.#continues) return;
    this.#last = "sign";
    if (this.#depth === this.#printDepth) this.#printDepth = undefined;
  }

  #token(character: string): boolean {
    if (character === "#") return this.#take(comment) !== undefined;
    if (character === '"') return this.#take(text, "operand") !== undefined;
    if (character === "/" && this.#last !== "operand") return this.#last === "sign" && this.#take(regex, "operand") !== undefined;
    const word = this.#take(name, "operand");
    if (word !== undefined) return this.#name(word);
    if (this.#take(number, "operand") !== undefined) return true;
    const found = this.#take(sign, "sign");
    return found !== undefined && this.#sign(found);
  }

  #name(word: string): boolean {
    if (dangerousNames.includes(word)) return false;
    if (unclearBeforeSlash.has(word)) this.#last = "unclear";
    if (word === "print" || word === "printf") this.#printDepth = this.#depth;
    return true;
  }

  #sign(found: string): boolean {
    if (found === "|") return false;
    if (found === ">") return this.#printDepth === undefined || this.#depth > this.#printDepth;
    if (found === "(") this.#depth++;
    if (found === ")" && --this.#depth < 0) return false;
    if (found === ";" || found === "{" || found === "}") this.#printDepth = undefined;
    this.#continues = [",", "{", "&&", "||", "?", ":"].includes(found);
    // Behind them a `/` divides or begins an expression; the grammar knows, and not the token.
    if (found === ")" || found === "++" || found === "--") this.#last = "unclear";
    if (found === "]") this.#last = "operand";
    return true;
  }

  #take(pattern: RegExp, type?: TokenType): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    if (type !== undefined) this.#continues = false;
    if (type !== undefined) this.#last = type;
    return found;
  }
}
