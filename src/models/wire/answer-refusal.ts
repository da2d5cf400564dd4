/** An answer that is kept from the provider library because of its size or form. Asking again would not help. */
export class AnswerRefusal extends Error {
  readonly code: "too_large" | "bad_response";

  constructor(code: AnswerRefusal["code"], message: string) {
    super(message);
    this.name = "AnswerRefusal";
    this.code = code;
  }
}

/** The refusal behind an error of the library, which wraps what its connection throws. */
export function findRefusal(thrown: unknown): AnswerRefusal | undefined {
  for (let current = thrown, depth = 0; current instanceof Error && depth < 8; current = current.cause, depth++) {
    if (current instanceof AnswerRefusal) return current;
  }
  return undefined;
}
