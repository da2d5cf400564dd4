import * as fc from "fast-check";

/** Programs that the rules of the differential test cover, ones that they do not, and ones that carry others. */
const programs = [..."ls¦cat¦git¦git log¦echo¦grep¦head¦sort¦wc¦true¦npm run test:unit¦cd sub¦cd ..".split("¦")];
const others = [
  ..."rm¦touch canary¦evil¦git push¦find . -delete¦xargs rm¦timeout 5 rm¦timeout 5 ls¦bash -c 'rm x'¦bash -c 'ls | wc'".split(
    "¦",
  ),
  ..."sh -c 'cat a; ls'¦env evil¦eval 'evil'¦command evil¦nice cat".split("¦"),
];

const words = [
  ..."a b.ts -l --all 'x y' \"x y\" \"$HOME\" $x ${x} * *.ts a* -- 1 x=1 ./a ../b '' \\; a\\ b #c a#b ! = ~ ~/x {a,b} [ab]* $'a b' $'\\x2d' \"a'b\" é".split(
    " ",
  ),
  ...'$(evil)¦`evil`¦<(evil)¦"$(evil)"¦${x:-$(evil)}¦$((1+1))'.split("¦"),
  ...`'a|b'¦"a;b"¦a\\|b¦'$(evil)'`.split("¦"),
];

const redirects = [
  ..."2>&1¦>/dev/null¦2>/dev/null¦&>/dev/null¦< a¦> canary¦>> canary¦>| canary¦<<< word¦<<< 'a b'¦<<'E'\nbody $(evil)\nE\n".split(
    "¦",
  ),
  ..."<<E\nbody\nE\n¦<<E\n$(evil)\nE\n¦>&2¦3>&1¦<&-".split("¦"),
];

const glue = ["; ", " && ", " || ", " | ", " |& ", "\n", " & ", " ;; ", " & "];

const simple = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...programs) },
      { weight: 1, arbitrary: fc.constantFrom(...others, "$x", '"l"s', "l\\s", "A=1 ls", "x=1") },
    ),
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...words.slice(0, 5), "a", "'a|b'", '"a;b"', "'x y'") },
        { weight: 1, arbitrary: fc.constantFrom(...words) },
      ),
      { maxLength: 3 },
    ),
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...redirects.slice(0, 4)) },
        { weight: 1, arbitrary: fc.constantFrom(...redirects) },
      ),
      { maxLength: 1 },
    ),
  )
  .map(([program, args, more]) => [program, ...args, ...more].join(" "));

/** Lists, pipes, groups and loops of simple commands, and scripts inside scripts. */
export function linesOf(command: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ line: string }>((tie) => ({
    line: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      { weight: 5, arbitrary: command },
      {
        weight: 6,
        arbitrary: fc
          .tuple(
            tie("line"),
            fc.oneof(
              { weight: 8, arbitrary: fc.constantFrom(...glue.slice(0, 6)) },
              { weight: 1, arbitrary: fc.constantFrom(...glue) },
            ),
            tie("line"),
          )
          .map((parts) => parts.join("")),
      },
      { weight: 1, arbitrary: tie("line").map((line) => `( ${line} )`) },
      { weight: 1, arbitrary: tie("line").map((line) => `{ ${line}; }`) },
      { weight: 1, arbitrary: tie("line").map((line) => `! ${line}`) },
      { weight: 1, arbitrary: tie("line").map((line) => `time ${line}`) },
      { weight: 1, arbitrary: tie("line").map((line) => `if ${line}; then ${line}; fi`) },
      { weight: 1, arbitrary: tie("line").map((line) => `for f in a b; do ${line}; done`) },
      { weight: 1, arbitrary: tie("line").map((line) => `bash -c '${line.replaceAll("'", "'\\''")}'`) },
      { weight: 1, arbitrary: tie("line").map((line) => `f() { ${line}; }; f`) },
      { weight: 1, arbitrary: tie("line").map((line) => `echo "$(${line})"`) },
      { weight: 1, arbitrary: tie("line").map((line) => `# ${line}`) },
      { weight: 1, arbitrary: tie("line").map((line) => `${line} # and more`) },
    ),
  })).line;
}

/** Command lines such as a model writes, and such as nobody should. */
export const script = linesOf(simple);

/** Texts without any sense, made of what shells care about. */
export const noise: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."'\"\\$`(){}[]<>|&;!#~*?=\n\t -+@:/,%^".split(""),
        ..."$(¦${¦$((¦<<¦<<<¦<(¦>(¦&&¦||¦if ¦then ¦fi¦case ¦esac¦do ¦done¦function ¦EOF\n¦\\\n".split("¦"),
      ),
      fc.constantFrom("ls", "a", "x", "é", "1"),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));
