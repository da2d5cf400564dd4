/** An error as the operating system reports them: the code is what callers look at. */
export class SystemError extends Error {
  readonly code: string;

  constructor(code: string, message?: string) {
    super(message === undefined ? code : `${code}: ${message}`);
    this.name = "SystemError";
    this.code = code;
  }
}

/** The system's code of an error of any origin, or the empty string. */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/** Throws `EINVAL` for what is not one component of a path: the last line of defence below every check of syntax. */
export function assertComponent(name: string): void {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) throw new SystemError("EINVAL");
}
