import { compileGlob } from "../../host/scopes/glob.ts";
import { ScopeError } from "../../host/scopes/scopes.ts";
import { isRecord } from "../../protocol/json.ts";
import type { SchemaIssue } from "../../schema/schema.ts";
import { configSchema } from "../config-schema.ts";
import { type EffectKeys, isLook } from "./effects.ts";

/** Covers simple commands that ask for no more than its effects, and decides on them. */
export interface ShellRule extends EffectKeys {
  /** `git log`, `npm run test:*`: see `patterns.ts`. */
  readonly pattern: string;
  /** Default: it asks, as a general caution that `pre_approved: true` lifts for looks. */
  readonly approval_required?: boolean;
  /** Blocks the command, whatever it asks for. */
  readonly blocked?: boolean;
  /** Where nothing isolates commands, and the caller of the run accepts that, the command runs that is the pattern word for word. */
  readonly unisolated?: boolean;
  /** Names of scopes that every path among the arguments must lie in; otherwise the rule does not match. */
  readonly sandbox_paths?: readonly string[];
  /** Globs of arguments that block. */
  readonly deny_args?: readonly string[];
  /** Globs of arguments that ask. */
  readonly approval_required_if_args?: readonly string[];
  /** Globs of virtual paths that redirections of the command may write to; otherwise the rule does not match. */
  readonly redirect_paths?: readonly string[];
}

export interface ShellConfig {
  /** `allowed`: what asks for no effect runs, unless a rule blocks it, or one without effects asks. Default: by the rules. */
  readonly looks?: "allowed" | "by_rule";
  readonly rules: readonly ShellRule[];
  /** Decides on commands that no rule covers. Default: they are blocked. */
  readonly default?: EffectKeys & { readonly approval_required: boolean };
}

const texts = { type: "array", items: { type: "string", pattern: "." } } as const;

const effects = {
  writes: {
    ...texts,
    description: "Folders of `rw` scopes that the command may write in: whatever the kernel lets it do there.",
  },
  opens: { ...texts, description: "Protected names in these folders that it may write: `.git`, `package.json`." },
  reads: { ...texts, description: "Names of scopes with `read_approval` or `suffixes` that it may read." },
  network: { type: "boolean", description: "Whether it may use the network." },
  scratch: { type: "boolean", description: "Its commands write in layers that are thrown away, where they ask for no effect." },
} as const;

const rule = {
  pattern: {
    type: "string",
    pattern: "\\S",
    examples: ["git log"],
    description: "The program and the arguments that a command must begin with; `*` stands for any run of characters.",
  },
  approval_required: { type: "boolean", default: true, description: "Whether a person is asked." },
  ...effects,
  blocked: { type: "boolean", description: "Blocks the command, whatever it asks for." },
  unisolated: {
    type: "boolean",
    description: "With `--unisolated`, runs the command that is the pattern word for word where nothing isolates it.",
  },
  sandbox_paths: { ...texts, description: "Names of scopes that every path among the arguments must lie in." },
  deny_args: { ...texts, description: "Globs of arguments with which the command is blocked." },
  approval_required_if_args: { ...texts, description: "Globs of arguments with which a person is asked." },
  redirect_paths: { ...texts, description: "Globs of paths that the command's output may be redirected into. Needs `writes`." },
} as const;

const standard = {
  approval_required: { type: "boolean", description: "Whether a person is asked for commands that no rule covers." },
  ...effects,
} as const;

export const shellConfig = configSchema<ShellConfig>(
  {
    looks: {
      type: "string",
      pattern: "^(?:allowed|by_rule)$",
      examples: ["allowed"],
      description: "`allowed`: commands that ask for no effect run, unless a rule blocks them, or one without effects asks.",
    },
    rules: {
      type: "array",
      items: { type: "object", properties: rule, required: ["pattern"], additionalProperties: false },
      default: [],
      description: "Read in order: the first rule that matches a command, and gives the effects that it asks for, decides.",
    },
    default: {
      type: "object",
      properties: standard,
      required: ["approval_required"],
      additionalProperties: false,
      description: "For commands that no rule covers. Without it they are blocked.",
    },
  },
  ({ rules }) => (Array.isArray(rules) ? rules.flatMap(ruleIssues) : []),
);

function ruleIssues(given: unknown, rule: number): SchemaIssue[] {
  if (!isRecord(given)) return [];
  const at = (key: string) => ["rules", rule, key];
  const issues: SchemaIssue[] = [];
  if (given["redirect_paths"] !== undefined && given["writes"] === undefined) {
    issues.push({ path: at("redirect_paths"), message: `needs \`writes\`: ${writesFor(given["redirect_paths"])}` });
  }
  const other = ["writes", "opens", "reads", "network", "scratch", "approval_required", "unisolated"].find(
    (key) => given[key] !== undefined,
  );
  if (given["blocked"] === true && other !== undefined) {
    issues.push({ path: at(other), message: "means nothing beside `blocked: true`" });
  }
  if (given["unisolated"] === true && !isLook(given as EffectKeys)) {
    issues.push({ path: at("unisolated"), message: "cannot stand beside effects: without a wall nothing bounds them" });
  }
  return [...issues, ...globIssues(given["redirect_paths"], at("redirect_paths"))];
}

/** The folders that the globs name before their first wildcard. */
function writesFor(globs: unknown): string {
  const folders = (Array.isArray(globs) ? globs : []).map((glob) => String(glob).replace(/\/?[^/]*([*?{[].*)?$/s, "") || ".");
  return `write \`writes: [${[...new Set(folders)].join(", ")}]\` beside it`;
}

function globIssues(globs: unknown, path: readonly (string | number)[]): SchemaIssue[] {
  return (Array.isArray(globs) ? globs : []).flatMap((glob: unknown, index) => {
    const refused = typeof glob === "string" ? refusalOfGlob(glob) : undefined;
    return refused === undefined ? [] : [{ path: [...path, index], message: `is no glob of a path: ${refused}` }];
  });
}

function refusalOfGlob(glob: string): string | undefined {
  try {
    compileGlob(glob);
    return undefined;
  } catch (error) {
    if (error instanceof ScopeError) return error.message;
    throw error;
  }
}
