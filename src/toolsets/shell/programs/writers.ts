import { baseName } from "../parse/scripts.ts";
import { findOption } from "./options.ts";
import { hatch, notKnown, type Program, type Programs, program } from "./program.ts";

/** Its purpose is to write: a rule allows that, inside the scopes and never to protected names. */
function writer(options: string): Program {
  return program(options, { otherwise: "is not known to stay in place", look: () => ({ effect: "write" }) });
}

/** The last operand, or what `-t` names, is written. The others are only read, or moved away. */
function mover(options: string, sources: "reads" | "moves") {
  return program(options, {
    otherwise: notKnown,
    look: (start) => {
      const option = findOption(start, "-t");
      const target = option?.index ?? start.operands.at(-1);
      const others = start.operands.filter((index) => index !== target);
      const into = option?.value ?? start.words[target ?? 0]?.value ?? "";
      const keepsFolders = findOption(start, "--parents") !== undefined;
      const paths = others.map((index) => {
        const source = start.words[index]?.value ?? "";
        return `${into}/${keepsFolders ? source : baseName(source.replace(/\/+$/, ""))}`;
      });
      const keepsLinks = start.unknown !== undefined || findOption(start, "-a", "-R", "-d", "-P") !== undefined;
      const lands = { into, paths, isSure: option !== undefined || keepsFolders, keepsLinks };
      const isFile = findOption(start, "-T") !== undefined;
      return { effect: "write", [sources]: new Set(others), ...(isFile ? {} : { lands }) };
    },
  });
}

/** `dd of=FILE`. */
const dd: Program = {
  read: ({ words }) => {
    const other = words.slice(1).find(({ value }) => !/^(?:i?bs|if|count|skip|status|iflag)=/.test(value));
    if (other === undefined) return { hatches: [], effect: "read" };
    return { hatches: [hatch(`\`${other.value}\` writes where it is told to`)], effect: "write" };
  },
};

export const cp = mover(
  `a|archive R|r|recursive f|force i|interactive n|no-clobber u v|verbose p preserve? no-preserve= L|dereference P|no-dereference H d
    x|one-file-system T|no-target-directory t|target-directory= parents reflink? sparse= strip-trailing-slashes help version !l|link
    !s|symbolic-link`,
  "reads",
);

export const writers: Programs = {
  rm: writer("r|R|recursive f|force d|dir v|verbose i I interactive? one-file-system preserve-root? help version"),
  mkdir: writer("p|parents v|verbose help version"),
  rmdir: writer("p|parents v|verbose ignore-fail-on-non-empty help version"),
  touch: writer("a c|no-create m f h|no-dereference d|date= t= r|reference= time= help version"),
  tee: writer("a|append i|ignore-interrupts p output-error? help version"),
  cp,
  mv: mover(
    `f|force i|interactive n|no-clobber u v|verbose T|no-target-directory t|target-directory= strip-trailing-slashes help version`,
    "moves",
  ),
  dd,
};
