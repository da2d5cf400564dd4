import { protectionOfName } from "../../host/scopes/protected-names.ts";
import { quoteNames } from "../../util/text/did-you-mean.ts";
import type { ConfigWarning, ToolsetScope } from "../toolset.ts";
import { unknownScopes } from "../unknown-scopes.ts";
import type { ShellConfig, ShellRule } from "./config.ts";
import type { EffectKeys } from "./effects.ts";
import { includesPattern, parsePattern } from "./patterns.ts";

type Place = readonly (string | number)[];
type Rights = Pick<ToolsetScope, "readable" | "writable" | "networkEnabled">;

/** Warns of rules that are valid and cannot do what their author meant. Pure. */
export function shellWarnings(config: ShellConfig, rights: Rights): readonly ConfigWarning[] {
  const { rules, default: standard, looks } = config;
  if (rules.length === 0 && standard === undefined && looks !== "allowed") {
    return [{ path: [], message: "blocks every command: it has no rules and no default" }];
  }
  return [
    ...rules.flatMap((rule, index) => [
      ...patternWarnings(rule, index),
      ...shadowWarnings(rules, index),
      ...scopeWarnings(rule, index, rights.readable),
      ...effectErrors(rule, ["rules", index], rights),
      ...effectHints(rule, ["rules", index], rights),
    ]),
    ...(standard ? effectErrors(standard, ["default"], rights) : []),
  ];
}

/** Warns of rules that ask although the author pre-approves the tool: a rule that is written counts. Pure. */
export function approvalWarnings({ rules }: ShellConfig): readonly ConfigWarning[] {
  return rules.flatMap(({ approval_required: asks }, index) => {
    const message = "asks all the same: `pre_approved: true` lifts no question that a rule demands";
    return asks === true ? [{ path: ["rules", index, "approval_required"], message }] : [];
  });
}

/** Errors for effects that no call could have. */
function effectErrors({ writes = [], opens = [], reads = [], network }: EffectKeys, path: Place, rights: Rights) {
  const { readable, writable, networkEnabled } = rights;
  const error = (key: string, message: string): ConfigWarning => ({ path: [...path, key], message, isError: true });
  const places = quoteNames(writable) || "none";
  return [
    ...writes.flatMap((folder, index) => {
      const name = scopeOf(folder, readable);
      if (name !== undefined && writable.includes(name)) return [];
      const why = name === undefined ? "is in no scope of this worker" : "is in a scope that is read-only";
      return [
        {
          path: [...path, "writes", index],
          message: `\`${folder}\` ${why}; its \`rw\` scopes: ${places}`,
          isError: true as const,
        },
      ];
    }),
    ...opens.flatMap((name, index) => {
      const why = refusalToOpen(name);
      return why === undefined
        ? []
        : [{ path: [...path, "opens", index], message: `\`${name}\` ${why}`, isError: true as const }];
    }),
    ...(opens.length > 0 && writes.length === 0 ? [error("opens", "needs `writes`: the folders that hold these names")] : []),
    ...unknownScopes(
      reads.filter((name) => name !== ".git"),
      readable,
      [...path, "reads"],
    ),
    ...(network && !networkEnabled ? [error("network", "needs `sandbox: { network_enabled: true }`")] : []),
  ];
}

/** The name of the scope that a virtual path begins with. */
function scopeOf(path: string, scopes: readonly string[]): string | undefined {
  const first = path.replace(/^(?:\.\/+)+/, "").split(/[/:]/, 1)[0] ?? "";
  if (path.split("/").includes("..") || path.startsWith("/")) return undefined;
  return scopes.find((name) => name === first) ?? scopes.find((name) => name === ".");
}

/** Returns why a name cannot be opened to a command; undefined if it can. */
export function refusalToOpen(name: string): string | undefined {
  const components = name.split("/");
  const protection = components.every((one) => one !== "" && one !== "..") ? protectionOfName(components) : undefined;
  if (protection === undefined) return "is not a protected name, and needs no `opens`";
  const isGit = name === ".git" || name === ".git/config" || name === ".git/hooks";
  return protection === "ask-read-and-write" && !isGit ? "is never opened to a command" : undefined;
}

/** Rules from before effects allowed writing in all scopes: without `writes` they now allow looks alone. */
function effectHints(rule: ShellRule, path: Place, { writable, networkEnabled }: Rights): ConfigWarning[] {
  const { pattern, approval_required: asks, writes, network, unisolated, blocked, scratch } = rule;
  if (asks !== false || unisolated || blocked) return [];
  const hints: string[] = [];
  if (writes === undefined && !scratch && writable.length > 0) {
    const lines = writable.map((name) => `\`writes: [${name}]\``).join(", ");
    hints.push(`it writes nothing; if \`${pattern}\` has to write, add ${lines}, and otherwise \`writes: []\``);
  }
  if (network === undefined && networkEnabled) hints.push("it has no network; add `network: true`, or `network: false`");
  return hints.map((hint) => ({ path: [...path, "pattern"], message: `allows looks alone: ${hint}`, isHint: true }));
}

function patternWarnings({ pattern }: ShellRule, index: number): ConfigWarning[] {
  const path = ["rules", index, "pattern"];
  const [program = ""] = parsePattern(pattern);
  if (/['"\\]/.test(pattern)) {
    return [{ path, message: "never matches: quotes and backslashes mean nothing in a pattern; write * for a blank" }];
  }
  const operator = /\|\||&&|[|;&<>`]|\$\(/.exec(pattern)?.[0];
  if (operator !== undefined) {
    const message = `never matches: \`${operator}\` is no argument; each command of a line is matched alone`;
    return [{ path, message }];
  }
  if (program.includes("=")) return [{ path, message: "never matches: a variable in front of a command is not part of it" }];
  if (program.startsWith("~") || program.includes("$")) {
    return [{ path, message: "never matches: a program that only a shell can tell is covered by no rule" }];
  }
  return [];
}

function scopeWarnings({ sandbox_paths: names }: ShellRule, index: number, scopes: readonly string[]): readonly ConfigWarning[] {
  const path = ["rules", index, "sandbox_paths"];
  if (names?.length === 0) return [{ path, message: "never matches: no scope is named" }];
  return unknownScopes(names ?? [], scopes, path);
}

function shadowWarnings(rules: readonly ShellRule[], index: number): ConfigWarning[] {
  const rule = rules[index];
  if (rule === undefined) return [];
  const pattern = parsePattern(rule.pattern);
  const shadow = rules.slice(0, index).find((one) => {
    const isWhole = one.sandbox_paths === undefined && one.redirect_paths === undefined && givesAll(one, rule);
    return isWhole && includesPattern(parsePattern(one.pattern), pattern);
  });
  if (shadow === undefined) return [];
  const message = `never decides: the earlier rule \`${shadow.pattern}\` covers all of it`;
  return [{ path: ["rules", index, "pattern"], message }];
}

/** Returns whether no effect of the later rule is missing in the earlier one, by the texts. */
function givesAll(earlier: ShellRule, later: ShellRule): boolean {
  if (earlier.blocked === true) return true;
  const lists = ["writes", "opens", "reads"] as const;
  const isIn = (name: string, outer: string) => name === outer || name.startsWith(`${outer}/`);
  return (
    lists.every((key) => (later[key] ?? []).every((name) => (earlier[key] ?? []).some((outer) => isIn(name, outer)))) &&
    (later.network !== true || earlier.network === true)
  );
}
