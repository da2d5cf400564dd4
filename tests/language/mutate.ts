import fc from "fast-check";

/** How many texts a property is tried with: a slice in each run of the tests, all of them where the variable says so. */
export const numRuns = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 2000);

/** Ten milliseconds for each, which is many times what one takes. */
export const timeLimit = Math.max(30_000, numRuns * 10);

interface Mutation {
  readonly kind: "delete" | "insert" | "duplicate" | "splice";
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
  readonly other: Buffer;
}

const telling = [
  "\n---\n",
  "---",
  ": ",
  " #",
  "\t",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "*",
  "&a ",
  "*a",
  "<<: ",
  "!!js ",
  "- ",
  "| ",
  "?",
  "%",
  "\r",
  "\u0000",
  "${",
  "\ufeff",
  "{{ ",
  " }}",
  "{% ",
  " %}",
  "{%-",
  "| upcase",
  "{% endif %}",
  "{% raw %}",
  "(1..",
];

const shape = {
  kind: fc.constantFrom("delete", "insert", "duplicate", "splice"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  bytes: fc.oneof(
    fc.constantFrom(...telling).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 12 }),
  ),
};

function mutate(input: Buffer, { kind, at, length, bytes, other }: Mutation): Buffer {
  const start = Math.floor(at * input.length);
  const before = input.subarray(0, start);
  const after = input.subarray(start);
  switch (kind) {
    case "delete":
      return Buffer.concat([before, after.subarray(length)]);
    case "insert":
      return Buffer.concat([before, bytes, after]);
    case "duplicate":
      return Buffer.concat([before, after.subarray(0, length), after]);
    case "splice":
      return Buffer.concat([before, other.subarray(Math.floor(at * other.length))]);
  }
}

/** Samples with one to four changes each, of bytes that mean something and of bytes that mean nothing. */
export function mutatedTexts(samples: readonly Buffer[]): fc.Arbitrary<string> {
  const mutation: fc.Arbitrary<Mutation> = fc.record({ ...shape, other: fc.constantFrom(...samples) });
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 4 }))
    .map(([sample, mutations]) => mutations.reduce(mutate, sample).toString("utf8"));
}
