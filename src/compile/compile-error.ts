import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { positionAt } from "../diagnostics/position.ts";
import type { Reach } from "../protocol/reach.ts";

/** A program with mistakes was to be run. `diagnostics` holds all of them, each with its place; the message has their places and notes, too. */
export class CompileError extends Error {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    super(errors.map(describe).join("\n"));
    this.name = "CompileError";
    this.diagnostics = diagnostics;
    // Node prints enumerable members of an error that nobody catches: the texts of whole files.
    Object.defineProperty(this, "diagnostics", { enumerable: false });
  }
}

/** `main.worker:3:1: unknown key `toolset` [unknown-key]; did you mean …`, in one line. */
function describe({ code, message, span, notes }: Diagnostic): string {
  const at = span && positionAt(span.source, span.start);
  const place = at ? `${span.source.name}:${at.line}:${at.column}: ` : "";
  return `${place}${message} [${code}]${notes.map((note) => `; ${note.message}`).join("")}`;
}

/** Parts of a program that take effect only when the user trusts its folder. */
export interface NeedOfTrust {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** Absolute paths of the code that a run would import, and of workers and packages that lie or reach beyond the folder. */
  readonly files: readonly string[];
  /** Addresses of models in the manifest, each with the name of its provider. */
  readonly addresses: readonly string[];
  /** The reasons for trust, a text for each: `runs code: tools.ts`. Paths inside of the folder are relative to it. */
  readonly reasons: readonly string[];
}

/** The most reasons in the message; `reasons` has all. */
const mostReasons = 20;

/** A program brings code, reaches beyond its folder, or says where models are, and the folder is not trusted. Nothing of it has run. */
export class UntrustedProgram extends Error implements NeedOfTrust {
  readonly root: string;
  readonly files: readonly string[];
  readonly addresses: readonly string[];
  readonly reasons: readonly string[];
  /** Its reach, as far as known without running any of it. */
  readonly reach: Reach;

  constructor({ root, files, addresses, reasons }: NeedOfTrust, reach: Reach) {
    const more = reasons.length > mostReasons ? [`and ${reasons.length - mostReasons} more reasons`] : [];
    const why = [...reasons.slice(0, mostReasons), ...more].join("; ");
    super(`the folder ${root} is not trusted, and its program ${why}; \`trust: true\` allows it, and so does --trust`);
    this.name = "UntrustedProgram";
    this.root = root;
    this.files = files;
    this.addresses = addresses;
    this.reasons = reasons;
    this.reach = reach;
    // Node prints enumerable members of an error that nobody catches, below a message that says the same.
    for (const name of ["root", "files", "addresses", "reasons", "reach"] as const)
      Object.defineProperty(this, name, { enumerable: false });
  }
}
