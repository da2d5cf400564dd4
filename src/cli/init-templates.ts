export interface Template {
  /** Plays the model, so that the program runs without a key. */
  readonly script: string;
  /** Set where the program has code, which runs with the user's rights. */
  readonly trust: boolean;
  /** Words of a command line after the program's name; files are those of the program. */
  readonly words: (file: (path: string) => string) => string;
}

/** The programs in `templates/`, by their folders. */
export const templates = {
  words: { script: "scripted.ts", trust: true, words: () => '"Which file is the longest?"' },
  letters: { script: "script.yaml", trust: true, words: () => '"The letters of this week"' },
  review: { script: "script.yaml", trust: false, words: (file) => `-i diff=@${file("change.diff")}` },
  triage: { script: "script.yaml", trust: false, words: () => '"Today"' },
  invoice: { script: "script.yaml", trust: false, words: (file) => `-a ${file("invoices/may.txt")}` },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof templates;
