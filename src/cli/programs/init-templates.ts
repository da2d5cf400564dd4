export interface Template {
  /** Plays the model, so that the program runs without a key. */
  readonly script: string;
  /** Set where the program has code, which runs with the user's rights. */
  readonly trust: boolean;
  /** Words of a command line after the program's name; files are those of the program. */
  readonly words: (file: (path: string) => string) => string;
  /** Lines that make the program the user's own: a file, the beginning of the line, and what it holds. */
  readonly changes: readonly (readonly [path: string, line: string, meaning: string])[];
}

const prompt = "what you want of it";
const reply = "what a model would answer";
const test = "what the test expects of it";

/** The programs in `templates/`, by their folders. */
export const templates = {
  notes: {
    script: "script.yaml",
    trust: false,
    words: () => "",
    changes: [
      ["notes/monday.md", "", "a text of yours"],
      ["main.worker", "Read every file", prompt],
      ["script.yaml", "Who orders", "what a model would write"],
    ],
  },
  words: {
    script: "scripted.ts",
    trust: true,
    words: () => '"one two three"',
    changes: [
      ["tools.ts", "run: ", "what the tool does"],
      ["main.worker", "Call `count_words`", prompt],
      ["main.test.yaml", "output:", test],
    ],
  },
  letters: {
    script: "script.yaml",
    trust: true,
    words: () => '"The letters of this week"',
    changes: [
      ["in/acme.txt", "", "a letter of yours"],
      ["main.worker", "Read every letter", prompt],
      ["script.yaml", "args: { path: out/list.md", "what a model would write"],
      ["main.test.yaml", "out/list.md:", test],
    ],
  },
  review: {
    script: "script.yaml",
    trust: false,
    words: (file) => `-i diff=@${file("change.diff")}`,
    changes: [
      ["main.worker", "Review the diff", prompt],
      ["script.yaml", "json: ", reply],
      ["main.test.yaml", "output:", test],
    ],
  },
  triage: {
    script: "script.yaml",
    trust: false,
    words: () => '"Today"',
    changes: [
      ["inbox/login.md", "", "a message of yours"],
      ["main.worker", "1. Read", prompt],
      ["script.yaml", "args: { path: replies", "what a model would write"],
    ],
  },
  invoice: {
    script: "script.yaml",
    trust: false,
    words: (file) => `-a ${file("invoices/may.txt")}`,
    changes: [
      ["main.worker", "Give the number", prompt],
      ["script.yaml", "reply: ", reply],
      ["main.test.yaml", "output:", test],
    ],
  },
  commands: {
    script: "script.yaml",
    trust: true,
    words: () => '"Write the lines of todo.txt without repetitions"',
    changes: [
      ["main.worker", "project: ", "the folder to work in"],
      ["main.worker", "Do what", prompt],
      ["llm-do.yaml", "- { pattern: npm test", "a command that runs unasked"],
      ["script.yaml", "reply: One line", reply],
    ],
  },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof templates;
