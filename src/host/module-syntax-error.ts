/** A module that cannot be run as it is written. Says where, and what to do about it. */
export class ModuleSyntaxError extends Error {
  readonly code = "module_syntax";
  readonly hint: string;
  /** Host path and line, where the system names them. */
  readonly file: string | undefined;
  readonly line: number | undefined;

  constructor(cause: unknown, problem: { readonly what: string; readonly hint: string }) {
    const place = findPlace(cause);
    const detail = cause instanceof Error ? cause.message : String(cause);
    const where = place === undefined ? "" : `${place.file}:${place.line}: `;
    super(`${where}${problem.what} (${detail}). ${problem.hint}`, { cause });
    this.name = "ModuleSyntaxError";
    this.hint = problem.hint;
    this.file = place?.file;
    this.line = place?.line;
  }
}

/** Node puts `path:line` and the line itself before the first line of the stack. */
function findPlace(error: unknown): { file: string; line: number } | undefined {
  const [head = ""] = error instanceof Error ? (error.stack ?? "").split("\n", 1) : [];
  const found = /^(?:file:\/\/)?(.+):(\d+)$/.exec(head);
  return found?.[1] === undefined ? undefined : { file: found[1], line: Number(found[2]) };
}
