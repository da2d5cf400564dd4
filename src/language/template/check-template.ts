import type { TagToken, Tokenizer, TopLevelToken } from "liquidjs";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { type Checking, ExpressionChecker } from "./check-expression.ts";
import { tagNames, templateLimits, toIncludePath } from "./engine.ts";
import { diagnoseSyntax, type Range, rawNote } from "./explain-syntax.ts";

/** A file that a text renders, at the place of its path, with the names that it is given. */
export interface Inclusion extends Range {
  readonly path: string;
  readonly given: readonly string[];
}

interface Block {
  readonly name: "if" | "unless" | "case" | "for" | "capture";
  readonly token: TagToken;
  hasElse: boolean;
  /** For `case`: whether a `when` has begun. */
  hasWhen: boolean;
}

/** Tags that continue or end a block, by the blocks that they belong to. */
const innerTags: Readonly<Record<string, readonly Block["name"][]>> = {
  elsif: ["if", "unless"],
  else: ["if", "unless", "case", "for"],
  when: ["case"],
  endif: ["if"],
  endunless: ["unless"],
  endcase: ["case"],
  endfor: ["for"],
  endcapture: ["capture"],
};

const otherTagNames: Readonly<Record<string, string>> = {
  elif: "`{% elsif … %}`",
  elseif: "`{% elsif … %}`",
  set: "`{% assign name = … %}`",
  let: "`{% assign name = … %}`",
  include: '`{% render "file.md" %}`',
  import: '`{% render "file.md" %}`',
  section: '`{% render "file.md" %}`',
  echo: "`{{ … }}`",
  liquid: "one tag for each step",
  foreach: "`{% for item in list %}`",
  switch: "`{% case … %}`",
  end: "`{% endif %}`, `{% endfor %}` and the like",
};

/** Goes through the tokens of a template once, and reports every mistake at its place. */
export class TemplateChecker {
  readonly #checking: Checking;
  readonly #expressions: ExpressionChecker;
  readonly #blocks: Block[] = [];
  readonly inclusions: Inclusion[] = [];
  #inside: "comment" | "raw" | undefined;
  #problems = 0;

  constructor(checking: Checking) {
    const report: Checking["report"] = (code, details) => {
      this.#problems++;
      return checking.report(code, details);
    };
    this.#checking = { ...checking, report };
    this.#expressions = new ExpressionChecker(this.#checking);
  }

  /** Open blocks are not reported where a part of the text could not be read: it may hold their end. */
  check(tokens: readonly TopLevelToken[], { isWhole }: { readonly isWhole: boolean }): void {
    const { TypeGuards } = this.#checking.liquid;
    let opened: TagToken | undefined;
    for (const token of tokens) {
      if (this.#problems >= templateLimits.problems) return;
      if (TypeGuards.isTagToken(token)) {
        const was = this.#inside;
        this.#checkTag(token);
        if (was === undefined && this.#inside !== undefined) opened = token;
      } else if (this.#inside === undefined) this.#checkContent(token);
    }
    if (!isWhole) return;
    if (this.#inside !== undefined && opened) this.#reportOpen(opened, this.#inside);
    for (const { token, name } of this.#blocks) this.#reportOpen(token, name);
  }

  #reportOpen(token: TagToken, name: string): void {
    this.#refuse(token, `this \`${name}\` is not closed by \`{% end${name} %}\``);
  }

  #refuse(range: Range, message: string): void {
    this.#checking.report("template-syntax", diagnoseSyntax(this.#checking.text, range, message));
  }

  #checkContent(token: TopLevelToken): void {
    const { liquid, text } = this.#checking;
    this.#checkPlace(token);
    if (!liquid.TypeGuards.isOutputToken(token)) return;
    if (this.#refuseUnclosed(token)) return;
    const { defaultOptions, Tokenizer } = liquid;
    const tokenizer = new Tokenizer(text.text, defaultOptions.operators, undefined, token.contentRange);
    if (tokenizer.end()) this.#refuse(token, "there is nothing between the braces");
    else this.#expressions.readValue(tokenizer);
  }

  /** Braces that were closed by those of a later place. */
  #refuseUnclosed({ begin, end }: TopLevelToken): boolean {
    const opening = this.#checking.text.text.slice(begin, begin + 2);
    const content = this.#checking.text.text.slice(begin + 2, end).replace(/"[^"]*"|'[^']*'/g, "");
    if (!/\{[{%]/.test(content)) return false;
    const closing = opening === "{{" ? "}}" : "%}";
    this.#refuse({ begin, end: begin + 2 }, `this \`${opening}\` is not closed by \`${closing}\``);
    return true;
  }

  /** Between `case` and its first `when` nothing can be printed. */
  #checkPlace(token: TopLevelToken): void {
    const block = this.#blocks.at(-1);
    if (block?.name !== "case" || block.hasWhen || token.getText().trim() === "") return;
    block.hasWhen = true;
    this.#refuse(token, "nothing can stand between `case` and its first `when`");
  }

  #checkTag(token: TagToken): void {
    const { name } = token;
    if (this.#inside !== undefined) {
      if (name === `end${this.#inside}`) this.#inside = undefined;
      return;
    }
    if (name === "#" || this.#refuseUnclosed(token)) return;
    if (name === "comment" || name === "raw") this.#inside = name;
    else if (getOwn(innerTags, name)) this.#checkInner(token, getOwn(innerTags, name) ?? []);
    else {
      this.#checkPlace(token);
      this.#checkStart(token);
    }
  }

  #checkStart(token: TagToken): void {
    const { name, tokenizer } = token;
    if (name === "if" || name === "unless" || name === "case") {
      this.#open(token, name);
      this.#expressions.readValue(tokenizer, { tested: true });
    } else if (name === "for") this.#checkFor(token);
    else if (name === "assign") this.#checkAssign(token);
    else if (name === "capture") this.#checkCapture(token);
    else if (name === "render") this.#checkRender(token);
    else if (name === "break" || name === "continue") this.#checkJump(token);
    else this.#reportUnknownTag(token);
  }

  #checkJump(token: TagToken): void {
    if (!this.#checking.scope.inLoop) this.#refuse(token, `\`${token.name}\` belongs into a \`for\``);
    this.#expressions.expectEnd(token.tokenizer);
  }

  #open(token: TagToken, name: Block["name"]): void {
    this.#blocks.push({ name, token, hasElse: false, hasWhen: false });
    if (this.#blocks.length !== templateLimits.depth + 1) return;
    this.#problems = templateLimits.problems;
    const span = this.#checking.text.spanOf(token);
    this.#checking.report("template-too-large", { message: `blocks are nested deeper than ${templateLimits.depth}`, span });
  }

  #checkInner(token: TagToken, owners: readonly Block["name"][]): void {
    const block = this.#blocks.at(-1);
    if (block === undefined || !owners.includes(block.name)) {
      const open = block ? `: the \`${block.name}\` above is still open` : "";
      this.#refuse(token, `there is no ${quoteNames(owners, " or ")} to which this \`${token.name}\` could belong${open}`);
      if (token.name.startsWith("end")) this.#closeUpTo(owners);
      return;
    }
    if (token.name.startsWith("end")) this.#close();
    else if (block.hasElse) this.#refuse(token, `\`${token.name}\` cannot follow \`else\``);
    if (token.name === "elsif") this.#expressions.readValue(token.tokenizer, { tested: true });
    else if (token.name === "when") this.#checkWhen(token, block);
    else this.#expressions.expectEnd(token.tokenizer);
    if (token.name === "else") block.hasElse = block.hasWhen = true;
  }

  #close(): void {
    if (this.#blocks.pop()?.name === "for") this.#checking.scope.leaveLoop();
  }

  /** Closes the blocks up to the one that an end tag fits. Those between were reported. */
  #closeUpTo(owners: readonly Block["name"][]): void {
    if (!this.#blocks.some(({ name }) => owners.includes(name))) return;
    while (!owners.includes(this.#blocks.at(-1)?.name ?? "if") && this.#blocks.length > 0) this.#close();
    this.#close();
  }

  #checkWhen({ tokenizer }: TagToken, block: Block): void {
    block.hasWhen = true;
    for (;;) {
      const value = this.#expressions.attempt(tokenizer, () => tokenizer.readValueOrThrow());
      if (value === undefined) return;
      this.#expressions.checkOperand(value, true);
      tokenizer.skipBlank();
      if (tokenizer.end()) return;
      const start = tokenizer.p;
      if (tokenizer.peek() === ",") tokenizer.advance();
      else if (tokenizer.readIdentifier().content !== "or") {
        this.#expressions.expectEnd(tokenizer, start);
        return;
      }
    }
  }

  #checkFor(token: TagToken): void {
    const { tokenizer } = token;
    const { scope, types } = this.#checking;
    const variable = tokenizer.readIdentifier().content;
    const isIn = tokenizer.readIdentifier().content === "in";
    this.#open(token, "for");
    const list = isIn && variable !== "" ? this.#expressions.attempt(tokenizer, () => tokenizer.readValueOrThrow()) : undefined;
    if (!isIn || variable === "") this.#refuse(token, "a loop is written `{% for item in list %}`");
    const type = this.#expressions.checkOperand(list);
    if (list) this.#checkNamed(tokenizer, ["limit", "offset"], ["reversed"]);
    scope.enterLoop(variable, types?.item(type) ?? (type?.["type"] === "array" ? (type["items"] as typeof type) : undefined));
  }

  /** `name: value` up to the end, and words that stand alone. */
  #checkNamed(tokenizer: Tokenizer, names: readonly string[] | undefined, words: readonly string[] = []): string[] {
    const read = this.#expressions.attempt(tokenizer, () => tokenizer.readHashes()) ?? [];
    const wrong = read.find(({ name, value }) =>
      value === undefined ? !words.includes(name.content) : names?.includes(name.content) === false,
    );
    for (const { value } of read) this.#expressions.checkOperand(value);
    if (wrong) {
      const how = names ? "" : ": values are given as `name: value`";
      const range = { begin: wrong.name.begin, end: Math.max(wrong.end, wrong.name.end) };
      this.#refuse(range, `\`${clipText(wrong.name.content, 40)}\` cannot stand here${how}`);
    } else this.#expressions.expectEnd(tokenizer);
    return read.filter((one) => one !== wrong).map(({ name }) => name.content);
  }

  #checkAssign(token: TagToken): void {
    const { tokenizer } = token;
    const name = tokenizer.readIdentifier().content;
    tokenizer.skipBlank();
    if (name === "" || tokenizer.peek() !== "=") {
      this.#refuse(token, "an assignment is written `{% assign name = value %}`");
      return;
    }
    tokenizer.advance();
    this.#checking.scope.assign(name, this.#expressions.readValue(tokenizer));
  }

  #checkCapture(token: TagToken): void {
    const { tokenizer } = token;
    const name = tokenizer.readIdentifier().content;
    this.#open(token, "capture");
    if (name === "") this.#refuse(token, "a capture is written `{% capture name %}`");
    else if (this.#expressions.expectEnd(tokenizer)) this.#checking.scope.assign(name, { type: "string" });
  }

  #checkRender(token: TagToken): void {
    const quoted = token.tokenizer.readQuoted();
    const written = quoted?.content ?? "";
    const path = toIncludePath(written);
    const given = quoted ? this.#checkNamed(token.tokenizer, undefined) : [];
    if (quoted && path !== undefined) {
      this.#expressions.checkOperand(quoted);
      this.inclusions.push({ path, given, begin: quoted.begin, end: quoted.end });
      return;
    }
    const message = quoted
      ? `\`${clipText(written, 60)}\` cannot be rendered: a path is relative, and has no \`..\` in it`
      : "the path of the file has to be written out, in quotes";
    const [bare = "rubric.md"] = quoted ? [] : (/^[\w./-]+/.exec(token.args.trim()) ?? []);
    const note = `write \`{% render "${clipText(bare, 60)}" %}\` for a file beside the worker or in \`templates/\``;
    this.#checking.report("template-include", { message, span: this.#checking.text.spanOf(quoted ?? token), note });
  }

  #reportUnknownTag(token: TagToken): void {
    const { name } = token;
    const span = this.#checking.text.spanOf(token);
    const isEnd = name === "endraw" || name === "endcomment";
    const message = isEnd ? `there is nothing that this \`${name}\` could end` : `there is no tag \`${clipText(name, 60)}\``;
    const notes = isEnd ? [] : [{ message: tagNote(name) }];
    this.#checking.report("template-tag", { message, span, notes: [...notes, rawNote] });
  }
}

function tagNote(name: string): string {
  const other = getOwn(otherTagNames, name);
  if (other !== undefined) return `write ${other}`;
  const near = didYouMean(name, [...tagNames, ...Object.keys(innerTags), "endraw", "endcomment"]);
  return near ?? `the tags are ${quoteNames(tagNames)}`;
}
