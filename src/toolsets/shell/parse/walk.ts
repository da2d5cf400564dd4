import type {
  AndOr,
  Assignment,
  Command,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirection,
  Statement,
  SyntaxNode,
  Word,
} from "unbash";
import { either, type Flow, flowAfter, mayWander, staying } from "./folders.ts";
import { controlKinds, isKnownKind } from "./kinds.ts";
import type { Operator, Span } from "./operators.ts";
import type { Folders, ShellWord, SimpleCommand } from "./plan.ts";
import { quoteLiteral, quoteProgram } from "./quote.ts";
import { type ReadRedirect, readRedirect } from "./redirects.ts";
import { attachScripts, type ScriptContext as Context, type ReadInner } from "./scripts.ts";
import { describeDynamic, readWord } from "./words.ts";

/** A text with more than this is never run without a question, whatever the rules say. */
const maxNodes = 5000;
const maxSimpleCommands = 100;

export type EachChild = (node: SyntaxNode, callback: (child: SyntaxNode) => void) => void;

interface Walked {
  /** The node written anew; undefined if that cannot be. */
  readonly print: string | undefined;
  readonly flow: Flow;
}

type ControlNode = Extract<SyntaxNode, { type: keyof typeof controlKinds }>;

export interface WalkReader {
  readonly eachChild: EachChild;
  readonly readInner: ReadInner;
}

/** Ends a walk: the rest of the tree is not looked at, and nothing in it is allowed. */
export class TooMuch extends Error {}

/** One pass over a tree: gathers simple commands and findings, follows the folder, and writes the whole anew. */
export class Walk {
  readonly commands: SimpleCommand[] = [];
  readonly findings = new Set<string>();
  readonly spans: Span[] = [];
  readonly operators: Operator[] = [];
  uncertain: string | undefined;
  /** The text as it is written anew is bash: other shells may read it in another way. */
  isBashOnly = false;
  readonly #reader: WalkReader;
  #nodes = 0;
  /** Depth of the walk in words: positions there are not those of the text. */
  #inWords = 0;

  constructor(reader: WalkReader) {
    this.#reader = reader;
  }

  script(script: ParsedScript, context: Context): Walked {
    const [error] = script.errors ?? [];
    if (error !== undefined) this.#doubt(`it is not valid bash (${error.message})`);
    return this.#list(script.commands, context);
  }

  #list(statements: readonly Statement[], context: Context): Walked {
    const prints: (string | undefined)[] = [];
    let folders = context.folders;
    let flow = staying(folders);
    for (const statement of statements) {
      const walked = this.#statement(statement, { ...context, folders });
      prints.push(walked.print);
      flow = walked.flow;
      folders = either(flow.ok, flow.failed);
    }
    return { print: joinAll(prints, "; "), flow };
  }

  #statement(statement: Statement, context: Context): Walked {
    this.#count(statement);
    const walked = this.#and(statement.command, context);
    if (statement.background !== true) return walked;
    this.findings.add("it starts something in the background (`&`)");
    return { print: undefined, flow: staying(context.folders) };
  }

  #and(node: AndOr | PipelineNode, context: Context): Walked {
    if (node.type !== "AndOr") return this.#pipelineNode(node, context);
    this.#count(node);
    const [first, ...rest] = node.commands;
    if (first === undefined) {
      this.#doubt(`it has an empty ${node.type}`);
      return { print: undefined, flow: staying(context.folders) };
    }
    let { print, flow } = this.#pipelineNode(first, context);
    for (const [index, command] of rest.entries()) {
      const operator = node.operators[index] ?? "&&";
      this.operators.push(operator);
      const isAnd = operator === "&&";
      const next = this.#pipelineNode(command, { ...context, folders: isAnd ? flow.ok : flow.failed });
      print = joinAll([print, next.print], ` ${operator} `);
      flow = isAnd
        ? { ok: next.flow.ok, failed: either(flow.failed, next.flow.failed) }
        : { ok: either(flow.ok, next.flow.ok), failed: next.flow.failed };
    }
    return { print, flow };
  }

  #pipelineNode(node: PipelineNode, context: Context): Walked {
    return node.type === "Pipeline" ? this.#pipeline(node, context) : this.#command(node, context);
  }

  #pipeline(node: Pipeline, context: Context): Walked {
    this.#count(node);
    const prefixes = node.prefixes.map((prefix) => this.#prefix(prefix));
    const walked = node.commands.map((command, index) => {
      const operator = node.operators[index - 1];
      if (operator !== undefined) this.operators.push(operator);
      return this.#command(command, index === 0 ? context : { ...context, hasInput: true });
    });
    const pipes = ["", ...node.operators.map((operator) => (operator === "|&" ? " 2>&1 | " : " | "))];
    const print = joinAll([...prefixes, ...walked.flatMap((one, index) => [pipes[index], one.print])], "");
    const [only, ...others] = walked;
    if (only === undefined || others.length > 0) return { print, flow: staying(context.folders) };
    const isNegated = node.prefixes.filter((prefix) => prefix.type === "Negation").length % 2 === 1;
    return { print, flow: isNegated ? { ok: only.flow.failed, failed: only.flow.ok } : only.flow };
  }

  #prefix(prefix: Pipeline["prefixes"][number]): string {
    this.#count(prefix);
    if (prefix.type === "Negation") {
      this.operators.push("!");
      return "! ";
    }
    this.isBashOnly = true;
    this.operators.push("time");
    if (prefix.posix !== undefined) this.operators.push("-p");
    if (prefix.endOfOptions !== undefined) this.operators.push("--");
    return prefix.posix === undefined ? "time " : "time -p ";
  }

  #command(node: Exclude<PipelineNode, Pipeline>, context: Context): Walked {
    this.#count(node);
    if (node.type === "Command") return this.#simple(node, context);
    if (node.type === "Redirected") return this.#redirected(node, context);
    if (node.type !== "Subshell" && node.type !== "BraceGroup") return this.#control(node, context);
    const isSubshell = node.type === "Subshell";
    this.operators.push(isSubshell ? "(" : "{");
    const body = this.#list(node.body.commands, context);
    this.operators.push(isSubshell ? ")" : "}");
    if (isSubshell) return { print: joinAll(["( ", body.print, " )"], ""), flow: staying(context.folders) };
    return { print: joinAll(["{ ", body.print, "; }"], ""), flow: body.flow };
  }

  #redirected(node: Extract<PipelineNode, { type: "Redirected" }>, context: Context): Walked {
    const redirects = node.redirects.map((redirect) => this.#redirect(redirect));
    const hasInput = context.hasInput === true || redirects.some(feeds);
    const walked = this.#command(node.command, { ...context, hasInput });
    // Held as a command without words, so that its files are judged like all others.
    this.#add({ words: [], assignments: [], redirects, hasInput: false, folders: context.folders });
    return { ...walked, print: joinAll([walked.print, ...redirects.map((redirect) => redirect.print)], " ") };
  }

  #simple(node: Command, context: Context): Walked {
    const assignments = node.prefix.filter((one) => one.type === "Assignment");
    for (const assignment of assignments) {
      if (this.#inWords === 0) this.spans.push(assignment);
      this.#children(assignment, context.folders);
    }
    const words: ShellWord[] = node.name === undefined ? [] : [this.#word(node.name, context.folders)];
    for (const argument of node.args) {
      if (argument.type === "Word") words.push(this.#word(argument, context.folders));
      else if (!assignments.includes(argument)) words.push(this.#argument(argument, context.folders));
    }
    const redirects = node.redirects.map((redirect) => this.#redirect(redirect));
    const hasInput = context.hasInput === true || redirects.some(feeds);
    const known = attachScripts(words, (text) => this.#reader.readInner(text, { ...context, hasInput }));
    const names = assignments.map((assignment) => assignment.name);
    this.#add({ words: known, assignments: names, redirects, hasInput, folders: context.folders });
    const prints = [...assignments.map(printAssignment), ...known.map(printWord), ...redirects.map(({ print }) => print)];
    const print = prints.length === 0 ? undefined : joinAll(prints, " ");
    return { print, flow: flowAfter(known, context.folders) };
  }

  /** `A=b` behind a program that declares: a word of its own kind, whose value nobody needs. */
  #argument(node: Extract<Command["args"][number], { type: "Assignment" }>, folders: Folders): ShellWord {
    this.#children(node, folders);
    this.spans.push(node);
    return { kind: "dynamic", value: node.text, head: node.name, print: printAssignment(node) };
  }

  #word(word: Word, folders: Folders): ShellWord {
    this.#count(word);
    if (this.#inWords === 0) this.spans.push(word);
    const read = readWord(word);
    if (read.kind === "dynamic") this.findings.add(`it has ${describeDynamic(word)}`);
    this.#children(word, folders);
    return read;
  }

  #redirect(redirection: Redirection): ReadRedirect {
    this.#count(redirection);
    if (this.#inWords === 0) {
      this.spans.push(redirection);
      if (redirection.type === "HereDoc") {
        this.spans.push({ pos: redirection.body.pos, end: redirection.closing?.end ?? redirection.body.end });
      }
    }
    if (redirection.type === "HereDoc" && redirection.closing === undefined) this.#doubt("a text (`<<`) in it has no end");
    this.#children(redirection, undefined);
    const read = readRedirect(redirection);
    this.isBashOnly ||= read.type === "text";
    if (read.type === "text" && read.print === undefined) this.findings.add("it has a text (`<<`) that the shell changes");
    return read;
  }

  /** Everything else that holds commands: judged, but never without a person. */
  #control(node: ControlNode, context: Context): Walked {
    this.findings.add(`it has ${controlKinds[node.type]}`);
    const wanders = this.#wanders(node);
    const before = this.#inWords++;
    this.#inside(node, { ...context, folders: wanders ? undefined : context.folders });
    this.#inWords = before;
    return { print: undefined, flow: staying(wanders ? undefined : context.folders) };
  }

  #inside(node: SyntaxNode, context: Context): void {
    this.#reader.eachChild(node, (child) => {
      this.#count(child);
      switch (child.type) {
        case "Statement":
          this.#statement(child, context);
          return;
        case "Script":
          this.script(child, { folders: context.folders, hasInput: context.hasInput ?? false });
          return;
        case "Word":
          this.#word(child, context.folders);
          return;
        case "Command":
        case "Redirected":
          this.#command(child, context);
          return;
        default:
          if (child.type in controlKinds) this.#control(child as ControlNode, context);
          else this.#inside(child, context);
      }
    });
  }

  /** Looks at the content of a word, an assignment or a redirection. */
  #children(node: SyntaxNode, folders: Folders): void {
    this.#inWords++;
    if (("script" in node && node.script === undefined) || ("expression" in node && node.expression === undefined)) {
      this.#doubt("an expansion in it cannot be read");
    }
    this.#reader.eachChild(node, (child) => {
      this.#count(child);
      if (child.type === "Script") this.script(child, { folders });
      else if (child.type === "Word" && node.type !== "Word") this.#word(child, folders);
      else this.#children(child, folders);
    });
    this.#inWords--;
  }

  #wanders(node: SyntaxNode): boolean {
    let found = false;
    this.#reader.eachChild(node, (child) => {
      found ||= child.type === "Command" && child.name !== undefined && mayWander(readWord(child.name));
      found ||= this.#wanders(child);
    });
    return found;
  }

  #add(command: SimpleCommand): void {
    this.commands.push(command);
    if (this.commands.length > maxSimpleCommands) throw new TooMuch(`it has more than ${maxSimpleCommands} commands`);
  }

  #count(node: SyntaxNode): void {
    if (++this.#nodes > maxNodes) throw new TooMuch("it has too many parts");
    if (!isKnownKind(node.type)) this.#doubt(`it has a part of an unknown kind (${node.type})`);
  }

  #doubt(why: string): void {
    this.uncertain ??= why;
  }
}

function feeds(redirect: ReadRedirect): boolean {
  return redirect.type === "read" || redirect.type === "text";
}

/** `NAME=value`, where the value is spelt out. */
function printAssignment({ name, value, append, index }: Assignment): string | undefined {
  if (append === true || index !== undefined || value.type !== "Word") return undefined;
  const word = readWord(value);
  return word.kind === "static" ? `${name}=${word.value === "" ? "" : quoteLiteral(word.value)}` : undefined;
}

function printWord(word: ShellWord, index: number): string | undefined {
  return index === 0 && word.kind === "static" ? quoteProgram(word.value) : word.print;
}

function joinAll(prints: readonly (string | undefined)[], separator: string): string | undefined {
  return prints.some((print) => print === undefined) ? undefined : prints.join(separator);
}
