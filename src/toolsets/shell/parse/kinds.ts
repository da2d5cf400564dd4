import type { SyntaxNode } from "unbash";
import { nameSet } from "../../../util/text/name-set.ts";

const structural = [
  "Script Statement CompoundList AndOr Pipeline Time Negation Command Subshell BraceGroup Redirected Word Assignment",
  "ArrayValue Redirect HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor FileDescriptorVariable",
  "Literal Glob SingleQuoted DoubleQuoted AnsiCQuoted LocaleString SimpleExpansion ParameterExpansion",
  "CommandExpansion ArithmeticExpansion ProcessSubstitution ExtendedGlob BraceExpansion",
  "Default Remove Replace Slice CaseModification Transform Names",
  "ArithmeticBinary ArithmeticUnary ArithmeticTernary ArithmeticGroup ArithmeticWord ArithmeticCommandExpansion",
  "TestUnary TestBinary TestLogical TestNot TestGroup CaseItem Elif",
] as const;

/** Kinds that need a person's eye, with their names for people. */
export const controlKinds = {
  If: "`if`",
  For: "a `for` loop",
  ArithmeticFor: "a `for` loop",
  Select: "`select`",
  While: "a `while` loop",
  Case: "`case`",
  Function: "a function",
  Coproc: "a coprocess",
  TestCommand: "`[[ … ]]`",
  ArithmeticCommand: "`(( … ))`",
} as const;

type Names<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Names<Rest> : Text;
type KnownKind = Names<(typeof structural)[number]> | keyof typeof controlKinds;
/** `Unknown` is what the parser itself did not understand. */
type Kind = Exclude<SyntaxNode["type"], "Unknown">;

const knownKinds = nameSet([...structural, ...Object.keys(controlKinds)].join(" "));

/** False makes a text uncertain. A kind that a new version of the parser adds or takes away does not compile. */
export function isKnownKind(kind: [KnownKind] extends [Kind] ? Kind | "Unknown" : never): boolean {
  return kind !== "Unknown" && knownKinds.has(kind satisfies KnownKind);
}
