/** Whether a script for sed does nothing but edit the stream. Own positive list: what is not understood is not harmless. */
export function isHarmlessSedScript(script: string): boolean {
  return new SedReader(script).read();
}

const bare = "dDgGhHnNpPxzF=";

class SedReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): boolean {
    while (true) {
      this.#skip(" \t\n;");
      if (this.#at >= this.#text.length) return this.#depth === 0;
      if (!this.#addresses() || !this.#command()) return false;
    }
  }

  #addresses(): boolean {
    if (!this.#address()) return false;
    this.#skip(" \t");
    if (this.#take(",")) {
      this.#skip(" \t");
      const before = this.#at;
      if (this.#peek() === "+" || this.#peek() === "~") this.#at++;
      if (!this.#address() || this.#at === before) return false;
      this.#skip(" \t");
    }
    while (this.#take("!")) this.#skip(" \t");
    return true;
  }

  /** A number, `$`, `first~step`, `/regex/` or `\cregexc`; or none. */
  #address(): boolean {
    if (this.#take("$")) return true;
    if (isDigit(this.#peek())) {
      this.#digits();
      if (this.#take("~")) this.#digits();
      return true;
    }
    if (this.#peek() !== "/" && this.#peek() !== "\\") return true;
    if (this.#peek() === "\\") this.#at++;
    const delimiter = this.#next();
    if (!isDelimiter(delimiter) || !this.#until(delimiter, true)) return false;
    this.#skip("IM");
    return true;
  }

  #command(): boolean {
    const command = this.#next();
    if (command === "{") {
      this.#depth++;
      return true;
    }
    if (command === "}") return --this.#depth >= 0 && this.#end();
    if (command === "#") return this.#line();
    if (command === "s") return this.#substitute();
    if (command === "y") return this.#transliterate();
    if ("aic".includes(command)) return command !== "" && this.#line(true);
    if ("btT:".includes(command)) return command !== "" && this.#label();
    if ("qQlL".includes(command) && command !== "") {
      this.#skip(" \t");
      this.#digits();
      return this.#end();
    }
    return command !== "" && bare.includes(command) && this.#end();
  }

  #substitute(): boolean {
    const delimiter = this.#next();
    if (!isDelimiter(delimiter) || !this.#until(delimiter, true) || !this.#until(delimiter, false)) return false;
    while ("gpiIMm0123456789".includes(this.#peek()) && this.#peek() !== "") this.#at++;
    return this.#end();
  }

  #transliterate(): boolean {
    const delimiter = this.#next();
    return isDelimiter(delimiter) && this.#until(delimiter, false) && this.#until(delimiter, false) && this.#end();
  }

  /** GNU's sed reads on behind a blank as a new command, so nothing may stand there. */
  #label(): boolean {
    this.#skip(" \t");
    while (/[A-Za-z0-9_]/.test(this.#peek())) this.#at++;
    return this.#end();
  }

  /** To the end of the line; a backslash takes the next line with it where the command is one with text. */
  #line(continued = false): boolean {
    while (this.#at < this.#text.length && this.#peek() !== "\n") {
      if (continued && this.#peek() === "\\") this.#at++;
      this.#at++;
    }
    return true;
  }

  /** What may follow a command: nothing, `;`, a line's end, `}` or a comment. */
  #end(): boolean {
    this.#skip(" \t");
    return this.#peek() === "" || ";\n}#".includes(this.#peek());
  }

  /** Past the next delimiter. Seds disagree on delimiters in brackets: there it is not understood. */
  #until(delimiter: string, isRegex: boolean): boolean {
    while (this.#at < this.#text.length) {
      const character = this.#next();
      if (character === "\\") this.#at++;
      else if (character === "\n") return false;
      else if (character === delimiter) return true;
      else if (isRegex && character === "[" && !this.#brackets(delimiter)) return false;
    }
    return false;
  }

  /** To the bracket's end; false where it holds the delimiter, or where its end is in doubt. */
  #brackets(delimiter: string): boolean {
    this.#take("^");
    if (this.#peek() === "]") return false;
    while (this.#peek() !== "") {
      const character = this.#next();
      if (character === "]") return true;
      if (character === delimiter || character === "\\" || character === "\n") return false;
      if (character === "[" && !this.#class(delimiter)) return false;
    }
    return false;
  }

  /** `[:alpha:]` in brackets; a bracket alone is one. */
  #class(delimiter: string): boolean {
    if (!":.=".includes(this.#peek()) || this.#peek() === "") return true;
    const end = this.#text.indexOf(`${this.#peek()}]`, this.#at + 1);
    if (end === -1 || this.#text.slice(this.#at, end).includes(delimiter)) return false;
    this.#at = end + 2;
    return true;
  }

  #digits(): void {
    while (isDigit(this.#peek())) this.#at++;
  }

  #skip(characters: string): void {
    while (this.#peek() !== "" && characters.includes(this.#peek())) this.#at++;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #next(): string {
    return this.#text.charAt(this.#at++);
  }
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

/** Letters and digits as delimiters are legal, and only ever meant to confuse. */
function isDelimiter(character: string): boolean {
  return character !== "" && !/[A-Za-z0-9\s\\[\]{}^$.*]/.test(character);
}
