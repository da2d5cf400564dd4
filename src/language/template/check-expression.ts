import type { FilteredValueToken, PropertyAccessToken, QuotedToken, Tokenizer, ValueToken } from "liquidjs";
import type { Report } from "../../diagnostics/diagnose.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { LiquidModule } from "./engine.ts";
import { cannotStand, diagnoseSyntax, explainSyntax, type Range, rawNote } from "./explain-syntax.ts";
import { filterArities, otherFilterNames } from "./filters.ts";
import type { TemplateScope } from "./template-scope.ts";
import type { TemplateText } from "./template-text.ts";
import type { ValueType, ValueTypes } from "./value-types.ts";

/** The shared state of the checks of one text. */
export interface Checking {
  readonly liquid: LiquidModule;
  readonly text: TemplateText;
  readonly scope: TemplateScope;
  readonly types: ValueTypes | undefined;
  /** Gets the names of the fields whose values go into the text. */
  readonly used: Set<string>;
  readonly report: Report;
}

type Operand = ValueToken | FilteredValueToken;
type Filter = FilteredValueToken["filters"][number];

/** Reads and checks the expressions of one text: each name, each field, each filter, at its own place. */
export class ExpressionChecker {
  readonly #checking: Checking;

  constructor(checking: Checking) {
    this.#checking = checking;
  }

  /** A value with its filters, up to the end of a tag. A value that is only tested is not used by the text. */
  readValue(tokenizer: Tokenizer, { tested = false } = {}): ValueType {
    const start = tokenizer.p;
    const token = this.attempt(tokenizer, () => tokenizer.readFilteredValue());
    if (token === undefined) return undefined;
    const operands = [...token.initial.postfix].sort((a, b) => a.begin - b.begin);
    const end = Math.max(start, ...operands.map((operand) => operand.end), ...token.filters.map((filter) => filter.end));
    if (!this.#checkOrder(operands) || !this.expectEnd(tokenizer, end)) return undefined;
    const types = operands
      .filter((operand) => this.#checking.liquid.TypeGuards.isValueToken(operand))
      .map((operand) => this.checkOperand(operand as Operand, tested));
    for (const filter of token.filters) this.#checkFilter(filter, tested);
    return operands.length === 1 && token.filters.length === 0 ? types[0] : undefined;
  }

  /** Runs a step of the engine's reader; what it refuses is reported. */
  attempt<T>(tokenizer: Tokenizer, step: () => T): T | undefined {
    const start = tokenizer.p;
    try {
      return step();
    } catch (error) {
      const range = { begin: start, end: tokenizer.N };
      return this.#checking.report("template-syntax", explainSyntax(error, this.#checking.text, range));
    }
  }

  /** Reports text that follows other than blanks, and returns false then. */
  expectEnd(tokenizer: Tokenizer, from = tokenizer.p): boolean {
    const rest = this.#checking.text.text.slice(from, tokenizer.N);
    if (rest.trim() === "") return true;
    const start = from + rest.length - rest.trimStart().length;
    return this.refuse({ begin: start, end: tokenizer.N }, cannotStand(rest.trim()));
  }

  refuse(range: Range, message: string): false {
    this.#checking.report("template-syntax", diagnoseSyntax(this.#checking.text, range, message));
    return false;
  }

  /** Between two values stands an operator, and nothing else. */
  #checkOrder(tokens: FilteredValueToken["initial"]["postfix"]): boolean {
    const { liquid, text } = this.#checking;
    let wantsValue = true;
    for (const token of tokens) {
      const isOperator = liquid.TypeGuards.isOperatorToken(token);
      const isNot = isOperator && token.getText() === "not";
      if (wantsValue === (isOperator && !isNot)) {
        return this.refuse(token, cannotStand(text.text.slice(token.begin, token.end)));
      }
      wantsValue = isOperator;
    }
    const end = tokens.at(-1)?.end ?? 0;
    return !wantsValue || this.refuse({ begin: tokens.at(-1)?.begin ?? end, end }, "a value is missing after this operator");
  }

  checkOperand(token: Operand | undefined, tested = false): ValueType {
    const { TypeGuards } = this.#checking.liquid;
    if (TypeGuards.isQuotedToken(token)) return this.#checkQuoted(token);
    if (TypeGuards.isRangeToken(token)) {
      this.checkOperand(token.lhs, tested);
      this.checkOperand(token.rhs, tested);
      return { type: "array", items: { type: "integer" } };
    }
    return TypeGuards.isPropertyAccessToken(token) ? this.#checkAccess(token, tested) : undefined;
  }

  #checkQuoted(token: QuotedToken): ValueType {
    const written = token.getText();
    const isClosed = written.length > 1 && written.at(-1) === written[0];
    if (!isClosed) this.refuse(token, `the quote ${written[0]} is not closed`);
    return { type: "string" };
  }

  #checkAccess(token: PropertyAccessToken, tested: boolean): ValueType {
    if (!this.#checkForm(token)) return undefined;
    let type: ValueType;
    let rest = token.props;
    if (token.variable === undefined) {
      const [root, ...others] = token.props;
      type = this.#lookUp(root, tested);
      if (type === undefined && root === undefined) return undefined;
      rest = others;
    } else type = this.checkOperand(token.variable, tested);
    for (const [index, prop] of rest.entries())
      type = this.#member({ type, prop, name: this.#nameBefore(token, rest, index) }, tested);
    return type;
  }

  /** Rejects forms that the engine accepts: `a.`, `a[]`, `a[b c]`. */
  #checkForm(token: PropertyAccessToken): boolean {
    const { text } = this.#checking.text;
    if (text[token.end - 1] === ".") return this.refuse(token, "the name of a field is missing after the dot");
    for (const prop of token.props) {
      const isName = this.#checking.liquid.TypeGuards.isWordToken(prop);
      if (prop.begin === prop.end) return this.refuse(token, "a value is missing between the brackets");
      const after = text.slice(prop.end, token.end).trimStart();
      if (!isName && !after.startsWith("]"))
        return this.refuse({ begin: prop.begin, end: token.end }, "one value belongs between the brackets");
    }
    return true;
  }

  #lookUp(root: PropertyAccessToken["props"][number] | undefined, tested: boolean): ValueType {
    const { scope, used } = this.#checking;
    const name = this.#staticName(root);
    if (root === undefined || name === undefined) {
      if (root) this.refuse(root, "the name of a variable has to be written out");
      return undefined;
    }
    const variable = scope.lookUp(name);
    if (variable === undefined) this.#reportUnknown(root, name);
    if (variable?.isField && !tested) used.add(name);
    return variable?.type;
  }

  /** Fields stand by themselves: in `input.company`, the first name is superfluous. */
  #noteOnPath(end: number, name: string): string | undefined {
    const { scope, text } = this.#checking;
    const [, member = ""] = /^\.(\w+)/.exec(text.text.slice(end)) ?? [];
    const isPrefix = /^(?:input|inputs|args|params|data|context)$/i.test(name) && scope.names().has(member);
    return isPrefix ? `a field of the input stands by itself: \`{{ ${member} }}\`` : undefined;
  }

  #reportUnknown({ begin, end }: { begin: number; end: number }, name: string): void {
    const { scope, text, report } = this.#checking;
    const names = scope.names();
    const list = `${quoteNames([...names].slice(0, 12))}${names.size > 12 ? ", …" : ""}`;
    const one = names.size === 0 ? "the input has no fields" : `the only variable here is ${list}`;
    const all = names.size > 1 ? `the variables here are ${list}` : one;
    const near = this.#noteOnPath(end, name) ?? didYouMean(name, names);
    const notes = near ? [{ message: near }] : [{ message: all }, rawNote];
    report("template-variable", {
      message: `unknown variable \`${clipText(name, 60)}\``,
      span: text.spanOf({ begin, end }),
      notes,
    });
  }

  #member(access: { type: ValueType; prop: PropertyAccessToken["props"][number]; name: string }, tested: boolean): ValueType {
    const { types, text, report } = this.#checking;
    const { type, prop, name } = access;
    const key = this.#staticName(prop);
    if (key === undefined) {
      this.checkOperand(prop as Operand, tested);
      return types?.item(type);
    }
    const member = types?.member(type, key) ?? { found: true, type: undefined };
    if (member.found) return member.type;
    const message = `\`${clipText(name, 60)}\` is ${member.what} and has no \`${clipText(key, 60)}\``;
    return report("template-variable", { message, span: text.spanOf(prop), note: memberNote(key, member) });
  }

  #nameBefore(token: PropertyAccessToken, rest: PropertyAccessToken["props"], index: number): string {
    return this.#checking.text.text.slice(token.begin, rest[index]?.begin ?? token.end).replace(/[.[\s]+$/, "");
  }

  /** The name that a part of an access is, if it is written out. */
  #staticName(prop: PropertyAccessToken["props"][number] | undefined): string | undefined {
    const { TypeGuards } = this.#checking.liquid;
    if (TypeGuards.isWordToken(prop) || TypeGuards.isNumberToken(prop)) return prop.getText();
    if (!TypeGuards.isQuotedToken(prop)) return undefined;
    this.#checkQuoted(prop);
    return prop.content;
  }

  #checkFilter(filter: Filter, tested: boolean): void {
    for (const arg of filter.args) this.checkOperand(Array.isArray(arg) ? arg[1] : arg, tested);
    const arity = getOwn(filterArities, filter.name);
    if (arity === undefined)
      this.#reportFilter(filter, `there is no filter \`${clipText(filter.name, 60)}\``, filterNote(filter.name));
    else this.#checkArguments(filter, arity);
  }

  #checkArguments(filter: Filter, [min, max]: readonly [number, number]): void {
    const named = filter.args.flatMap((arg) => (Array.isArray(arg) ? [arg[0] ?? ""] : []));
    const wrong = named.find((name) => !(filter.name === "default" && name === "allow_false"));
    if (wrong !== undefined) this.#reportFilter(filter, `\`${filter.name}\` has no argument \`${clipText(wrong, 40)}\``);
    const count = filter.args.length - named.length;
    if (count >= min && count <= max) return;
    const wanted = min === max ? `${min}` : `${min} to ${max}`;
    this.#reportFilter(filter, `\`${filter.name}\` takes ${wanted} argument${max === 1 ? "" : "s"}, not ${count}`);
  }

  #reportFilter({ begin, name }: Filter, message: string, note?: string): void {
    const { text, report } = this.#checking;
    report("template-filter", { message, span: text.spanOf({ begin, end: begin + name.length }), note });
  }
}

function memberNote(
  key: string,
  { what, names }: { readonly what: string; readonly names: readonly string[] },
): string | undefined {
  if (what === "a list") return "to go through a list, write `{% for item in … %}`";
  const all = names.length === 0 ? undefined : `it has ${quoteNames(names.slice(0, 12))}`;
  return didYouMean(key, names) ?? all;
}

function filterNote(name: string): string | undefined {
  const other = getOwn(otherFilterNames, name);
  if (other !== undefined) return `it is called \`${other}\` here`;
  if (name === "date") return "a template does not know the time: pass it as a field of the input";
  return didYouMean(name, Object.keys(filterArities));
}
