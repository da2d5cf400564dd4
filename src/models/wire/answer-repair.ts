/** A JSON object of an answer. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * What is put right in the answers of one wire format before its library reads them: the library refuses whole answers for
 * the sake of one member that it does not know. Pure; what needs nothing comes back as the same object.
 */
export interface AnswerRepair {
  /** An answer that is not streamed. */
  readonly body: (body: Body) => Body;
  /** For one stream. */
  readonly events: () => EventRepair;
}

export interface EventRepair {
  /** Undefined where the event has to be passed over. */
  readonly event: (event: Body) => Body | undefined;
  /** What has to come before the mark that ends the stream. */
  readonly atEnd?: () => readonly Body[];
}
