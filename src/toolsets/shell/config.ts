import { compileGlob } from "../../host/glob.ts";
import { ScopeError } from "../../host/scopes.ts";
import { isRecord } from "../../protocol/json.ts";
import type { SchemaIssue } from "../../schema/schema.ts";
import { configSchema } from "../config-schema.ts";

/** Covers simple commands, and decides on them. */
export interface ShellRule {
  /** `git log`, `npm run test:*`: see `patterns.ts`. */
  readonly pattern: string;
  /** Default: it asks, as a general caution that `pre_approved: true` lifts. */
  readonly approval_required?: boolean;
  /** Names of scopes that every path among the arguments must lie in; otherwise the rule does not match. */
  readonly sandbox_paths?: readonly string[];
  /** Globs of arguments that block. */
  readonly deny_args?: readonly string[];
  /** Globs of arguments that ask. */
  readonly approval_required_if_args?: readonly string[];
  /** Globs of virtual paths that redirections of the command may write to. */
  readonly redirect_paths?: readonly string[];
}

export interface ShellConfig {
  readonly rules: readonly ShellRule[];
  /** Decides on commands that no rule covers. Default: they are blocked. */
  readonly default?: { readonly approval_required: boolean };
}

const texts = { type: "array", items: { type: "string", pattern: "." } } as const;

const rule = {
  pattern: {
    type: "string",
    pattern: "\\S",
    examples: ["git log"],
    description: "The program and the arguments that a command must begin with; `*` stands for any run of characters.",
  },
  approval_required: { type: "boolean", default: true, description: "Whether a person is asked." },
  sandbox_paths: { ...texts, description: "Names of scopes that every path among the arguments must lie in." },
  deny_args: { ...texts, description: "Globs of arguments with which the command is blocked." },
  approval_required_if_args: { ...texts, description: "Globs of arguments with which a person is asked." },
  redirect_paths: {
    ...texts,
    description: "Globs of paths in writable scopes that the command's output may be redirected into.",
  },
} as const;

const standard = {
  approval_required: { type: "boolean", description: "Whether a person is asked for commands that no rule covers." },
} as const;

export const shellConfig = configSchema<ShellConfig>(
  {
    rules: {
      type: "array",
      items: { type: "object", properties: rule, required: ["pattern"], additionalProperties: false },
      default: [],
      description: "The first rule that matches a command decides.",
    },
    default: {
      type: "object",
      properties: standard,
      required: ["approval_required"],
      additionalProperties: false,
      description: "For commands that no rule covers. Without it they are blocked.",
    },
  },
  ({ rules }) => (Array.isArray(rules) ? rules.flatMap(globIssues) : []),
);

function globIssues(given: unknown, rule: number): SchemaIssue[] {
  const globs = isRecord(given) && Array.isArray(given["redirect_paths"]) ? given["redirect_paths"] : [];
  return globs.flatMap((glob: unknown, index) => {
    const refused = typeof glob === "string" ? refusalOfGlob(glob) : undefined;
    const path = ["rules", rule, "redirect_paths", index];
    return refused === undefined ? [] : [{ path, message: `is no glob of a path: ${refused}` }];
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
