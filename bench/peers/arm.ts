/** A case that each library does once in a round. */
export interface Case {
  readonly kind: "turns" | "calls" | "children" | "text";
  readonly count: number;
}

/** Runs a case once; resolves with the last text. */
export type Runner = (model: string, { kind, count }: Case) => Promise<string>;

/** A library beside others. Imported and prepared before the first round. */
export interface Arm {
  readonly name: string;
  readonly kinds: readonly Case["kind"][];
  prepare(baseUrl: string): Promise<Runner>;
}

export const instructions = "Look up what you need, and answer.";
export const lookupDescription = "Look a key up.";
export const lookup = (key: string) => `The value of ${key} is ${"x".repeat(280)}`;
export const question = "What is the value?";
/** More turns than any case has. */
export const mostTurns = 500;
