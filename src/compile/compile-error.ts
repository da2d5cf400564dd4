import type { Diagnostic } from "../diagnostics/diagnostic.ts";

/** A program with mistakes was to be run. `diagnostics` holds all of them, each with its place. */
export class CompileError extends Error {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    super(errors.map(({ code, message }) => `${message} [${code}]`).join("\n"));
    this.name = "CompileError";
    this.diagnostics = diagnostics;
  }
}

/** A program brings code, or reaches beyond its folder, and the folder is not trusted. Nothing of it has run. */
export class UntrustedProgram extends Error {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** Absolute paths of the code that a run would import, and of workers that reach beyond the folder. */
  readonly files: readonly string[];

  constructor(root: string, files: readonly string[]) {
    super(`the program in ${root} brings code or reaches beyond its folder, and the folder is not trusted`);
    this.name = "UntrustedProgram";
    this.root = root;
    this.files = files;
  }
}
