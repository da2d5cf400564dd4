/** Every kind of node that is known: one that is not makes a text uncertain. `control` needs a person's eye. */
const structural = [
  ..."Script Statement CompoundList AndOr Pipeline Time Negation Command Subshell BraceGroup Redirected Word Assignment".split(
    " ",
  ),
  ..."ArrayValue Redirect HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor FileDescriptorVariable".split(" "),
  ..."Literal Glob SingleQuoted DoubleQuoted AnsiCQuoted LocaleString SimpleExpansion ParameterExpansion".split(" "),
  ..."CommandExpansion ArithmeticExpansion ProcessSubstitution ExtendedGlob BraceExpansion".split(" "),
  ..."Default Remove Replace Slice CaseModification Transform Names".split(" "),
  ..."ArithmeticBinary ArithmeticUnary ArithmeticTernary ArithmeticGroup ArithmeticWord ArithmeticCommandExpansion".split(" "),
  ..."TestUnary TestBinary TestLogical TestNot TestGroup CaseItem Elif".split(" "),
];

export const controlKinds: Readonly<Record<string, string>> = {
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
};

export const knownKinds: ReadonlySet<string> = new Set([...structural, ...Object.keys(controlKinds)]);
