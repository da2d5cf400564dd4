import { compileGlob } from "../../host/glob.ts";
import { ScopeError } from "../../host/scopes.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Schema, SchemaIssue } from "../../schema/schema.ts";
import { nearestNames } from "../../util/nearest-names.ts";

/** Covers simple commands, and says what becomes of them. */
export interface ShellRule {
  /** `git log`, `npm run test:*`: see `patterns.ts`. */
  readonly pattern: string;
  /** Absent: it asks, as a general caution that `pre_approved: true` lifts. */
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
  /** What becomes of commands that no rule covers; absent: they are blocked. */
  readonly default?: { readonly approval_required: boolean };
}

const texts = { type: "array", items: { type: "string" } } as const;

const ruleFields = {
  pattern: {
    type: "string",
    minLength: 1,
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

const ruleSchema = { type: "object", properties: ruleFields, required: ["pattern"], additionalProperties: false };

const defaultFields = {
  approval_required: { type: "boolean", description: "Whether a person is asked for commands that no rule covers." },
} as const;

const fields = {
  rules: { type: "array", items: ruleSchema, description: "The first rule that matches a command decides." },
  default: {
    type: "object",
    properties: defaultFields,
    required: ["approval_required"],
    additionalProperties: false,
    description: "For commands that no rule covers. Without it they are blocked.",
  },
} as const;

type Path = readonly (string | number)[];

export const configSchema: Schema<ShellConfig> = {
  jsonSchema: { type: "object", properties: fields, additionalProperties: false },
  validate(value) {
    const given = value ?? {};
    if (!isRecord(given)) return { ok: false, issues: [{ path: [], message: "must be a map" }] };
    const { rules = [], default: standard } = given;
    const issues = [...unknownKeys(given, fields, []), ...rulesIssues(rules), ...defaultIssues(standard)];
    if (issues.length > 0) return { ok: false, issues };
    return { ok: true, value: { ...(given as Partial<ShellConfig>), rules: rules as readonly ShellRule[] } };
  },
};

function unknownKeys(given: Record<string, unknown>, known: object, path: Path): SchemaIssue[] {
  const names = Object.keys(known);
  return Object.keys(given)
    .filter((key) => !names.includes(key))
    .map((key) => {
      const [near] = nearestNames(key, names);
      const message = near === undefined ? `is unknown; known are ${names.join(", ")}` : `is unknown; did you mean ${near}?`;
      return { path: [...path, key], message };
    });
}

function rulesIssues(rules: unknown): SchemaIssue[] {
  if (!Array.isArray(rules)) return [{ path: ["rules"], message: "must be a list of rules" }];
  return rules.flatMap((rule, index) => ruleIssues(rule, ["rules", index]));
}

function ruleIssues(rule: unknown, path: Path): SchemaIssue[] {
  if (!isRecord(rule)) return [{ path, message: "must be a map with a pattern" }];
  const issues = unknownKeys(rule, ruleFields, path);
  const { pattern, approval_required, sandbox_paths, deny_args, approval_required_if_args, redirect_paths } = rule;
  if (pattern === undefined) issues.push({ path, message: "has no pattern" });
  else if (typeof pattern !== "string" || pattern.trim() === "") {
    issues.push({ path: [...path, "pattern"], message: "must be a command, such as git log" });
  }
  issues.push(...flagIssues(approval_required, [...path, "approval_required"]));
  for (const [key, list] of Object.entries({ sandbox_paths, deny_args, approval_required_if_args, redirect_paths })) {
    issues.push(...textsIssues(list, [...path, key]));
  }
  issues.push(...globIssues(redirect_paths, [...path, "redirect_paths"]));
  return issues;
}

function defaultIssues(standard: unknown): SchemaIssue[] {
  if (standard === undefined) return [];
  if (!isRecord(standard)) return [{ path: ["default"], message: "must be a map with approval_required" }];
  const flag = standard["approval_required"];
  const missing = flag === undefined ? [{ path: ["default"], message: "has no approval_required" }] : [];
  return [
    ...unknownKeys(standard, defaultFields, ["default"]),
    ...missing,
    ...flagIssues(flag, ["default", "approval_required"]),
  ];
}

function flagIssues(flag: unknown, path: Path): SchemaIssue[] {
  return flag === undefined || typeof flag === "boolean" ? [] : [{ path, message: "must be true or false" }];
}

function textsIssues(list: unknown, path: Path): SchemaIssue[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return [{ path, message: "must be a list of texts" }];
  return list.flatMap((text, index) =>
    typeof text === "string" && text !== "" ? [] : [{ path: [...path, index], message: "must be a text" }],
  );
}

function globIssues(list: unknown, path: Path): SchemaIssue[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((glob, index) => {
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
