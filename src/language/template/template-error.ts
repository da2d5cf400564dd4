import type { Span } from "../../diagnostics/source.ts";

/** An error of the engine, as far as it is known. */
export interface LiquidFailure {
  readonly message?: string;
  readonly name?: string;
  readonly originalError?: Error;
  readonly token?: { readonly begin?: number; readonly end?: number; readonly input?: string };
}

/** A checked template could not be rendered with certain values. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly reason: "limit" | "missing-value" | "failed";
  readonly span: Span | undefined;

  constructor(
    message: string,
    options: { readonly reason: TemplateError["reason"]; readonly span?: Span | undefined; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.reason = options.reason;
    this.span = options.span;
  }
}
