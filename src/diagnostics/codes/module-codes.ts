import type { CatalogueEntry } from "../catalogue-entry.ts";

/** Mistakes of a program's code, and of the packages that it names. */
export const moduleCodes = {
  "export-missing": {
    severity: "error",
    title: "A module does not export this name",
    explanation:
      "What stands after the colon of `./file.ts:Name` is an exported name of that module. Check the spelling, or export it.",
  },
  "module-not-allowed": {
    severity: "error",
    title: "An npm package that the program may not use",
    explanation:
      "Workers may refer to packages that the program's `package.json` lists under `dependencies`, or that `allowed_modules` of `llm-do.yaml` names. Add the package to one of them.",
  },
  "module-missing": {
    severity: "error",
    title: "An npm package or a file of one that cannot be found",
    explanation:
      "The package is allowed, and is in no `node_modules` of the program or of a folder above it, or does not offer what the reference names. Install it, or correct the path.",
  },
  "not-verified-untrusted": {
    severity: "hint",
    title: "Not looked at for lack of trust",
    explanation:
      "What this refers to is made by code of the program, and the code of a folder that is not trusted is never run. Its name is there; whether it is what it should be shows only after trust (`--trust`).",
  },
  "reentry-unstated": {
    severity: "hint",
    title: "Code that does not say whether it can be entered again",
    explanation:
      "Code that calls workers and tools does things between its calls that no journal sees. A run that goes on after it was killed enters it again only if it says `replayable: true`: besides calls it does `runtime.step` and `runtime.now` alone. Without it, a person is asked. Write `replayable: false` if that is what you want.",
  },
  "code-failed": {
    severity: "error",
    title: "The program's code does not load",
    explanation:
      "`tools.ts` was imported and threw, or could not be read as TypeScript. Types are stripped, not compiled: write no `enum`, `namespace` or parameter property.",
  },
  "computed-import": {
    severity: "warning",
    title: "An import whose target is computed",
    explanation:
      "The modules of a program are found by reading its text: file tools cannot write them, commands see them read-only, and trust asks again when there are more. What an `import()` of a computed name loads is not known by reading, and so none of this holds for it. Write the name out, or import all that can be meant and choose among them.",
  },
  "unknown-call": {
    severity: "error",
    title: "Code that calls what does not exist",
    explanation:
      "`tool({ calls: [...] })` lists the workers and tools that the code may call. Each of them must be a worker of the program or an export of its `tools.ts`.",
  },
} as const satisfies Record<string, CatalogueEntry>;
