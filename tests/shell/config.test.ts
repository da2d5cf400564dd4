import { describe, expect, test } from "vitest";
import { shellConfig } from "../../src/toolsets/shell/config.ts";
import { shellWarnings } from "../../src/toolsets/shell/warnings.ts";

describe("configuration", () => {
  const issues = async (value: unknown) => {
    const checked = await shellConfig.validate(value);
    return checked.ok ? [] : checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  };

  test("keeps a valid configuration as written", async () => {
    expect(await shellConfig.validate({})).toEqual({ ok: true, value: { rules: [] } });
    expect(await shellConfig.validate(null)).toEqual({ ok: true, value: { rules: [] } });
    const config = {
      rules: [
        { pattern: "git", approval_required: false, sandbox_paths: ["a"], deny_args: ["-f"], approval_required_if_args: ["*"] },
      ],
      default: { approval_required: true },
    };
    expect(await shellConfig.validate(config)).toEqual({ ok: true, value: config });
  });

  test.each([
    [[], [": must be a map"]],
    [{ rule: [] }, ["rule: is unknown; did you mean `rules`?"]],
    [{ rules: {} }, ["rules: must be a list of maps"]],
    [{ rules: ["git"] }, ['rules.0: must be a map with pattern: { pattern: "git" }']],
    [{ rules: [{}] }, ["rules.0: has no pattern"]],
    [{ rules: [{ pattern: "git" }, { pattern: " " }] }, ["rules.1.pattern: must be a text, such as git log"]],
    [{ rules: [{ pattern: 3 }] }, ["rules.0.pattern: must be a text, such as git log"]],
    [
      { rules: [{ pattern: "a", aproval_required: true }] },
      ["rules.0.aproval_required: is unknown; did you mean `approval_required`?"],
    ],
    [{ rules: [{ pattern: "a", approval_required: "no" }] }, ["rules.0.approval_required: must be true or false"]],
    [{ rules: [{ pattern: "a", deny_args: "x" }] }, ["rules.0.deny_args: must be a list of texts"]],
    [{ rules: [{ pattern: "a", sandbox_paths: ["x", 1] }] }, ["rules.0.sandbox_paths.1: must be a text"]],
    [
      { rules: [{ pattern: "a", writes: ["out"], redirect_paths: ["out/**", "/etc/*", "../x", 1] }] },
      [
        "rules.0.redirect_paths.3: must be a text",
        "rules.0.redirect_paths.1: is no glob of a path: A pattern is relative to the folder: it cannot begin with /.",
        'rules.0.redirect_paths.2: is no glob of a path: A pattern cannot hold "..".',
      ],
    ],
    [
      { rules: [{ pattern: "a", redirect_paths: ["out/*.log", "x/y/**", "z.log"] }] },
      ["rules.0.redirect_paths: needs `writes`: write `writes: [out, x/y, .]` beside it"],
    ],
    [{ rules: [{ pattern: "a", blocked: true, writes: [] }] }, ["rules.0.writes: means nothing beside `blocked: true`"]],
    [
      { rules: [{ pattern: "a", unisolated: true, writes: ["out"] }] },
      ["rules.0.unisolated: cannot stand beside effects: without a wall nothing bounds them"],
    ],
    [{ looks: "all" }, ["looks: must be a text, such as allowed"]],
    [{ default: true }, ["default: must be a map with approval_required"]],
    [{ default: {} }, ["default: has no approval_required"]],
    [{ default: { approval_required: 1 } }, ["default.approval_required: must be true or false"]],
    [
      { default: { approval_required: true, x: 1 } },
      ["default.x: is unknown; known are `approval_required`, `writes`, `opens`, `reads`, `network`, `scratch`"],
    ],
    [
      { rules: [{ pattern: 1 }], x: 1 },
      ["x: is unknown; known are `looks`, `rules`, `default`", "rules.0.pattern: must be a text, such as git log"],
    ],
  ])("%j", async (value, expected) => {
    expect(await issues(value)).toEqual(expected);
  });
});

describe("warnings", () => {
  const rights = { readable: [".", "docs", "out"], writable: [".", "out"], networkEnabled: false };
  const of = (...patterns: string[]) =>
    shellWarnings({ rules: patterns.map((pattern) => ({ pattern })) }, rights).map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );

  test("are given for a shell that blocks everything", () => {
    expect(shellWarnings({ rules: [] }, rights)).toEqual([
      { path: [], message: "blocks every command: it has no rules and no default" },
    ]);
    expect(shellWarnings({ rules: [], default: { approval_required: true } }, rights)).toEqual([]);
  });

  test.each([
    [["git", "git log"], ["rules.1.pattern: never decides: the earlier rule `git` covers all of it"]],
    [["git *", "git"], ["rules.1.pattern: never decides: the earlier rule `git *` covers all of it"]],
    [["*", "ls"], ["rules.1.pattern: never decides: the earlier rule `*` covers all of it"]],
    [["*", "./x"], ["rules.1.pattern: never decides: the earlier rule `*` covers all of it"]],
    [["npm run *", "npm run test:*"], ["rules.1.pattern: never decides: the earlier rule `npm run *` covers all of it"]],
    [
      ["npm run test:*", "npm run test:unit"],
      ["rules.1.pattern: never decides: the earlier rule `npm run test:*` covers all of it"],
    ],
    [["git log", "git"], []],
    [["git log", "git *"], []],
    [["npm run test:*", "npm run *"], []],
    [["gitx", "git"], []],
    [["git * --oneline", "git log"], []],
    [["git | head"], ["rules.0.pattern: never matches: `|` is no argument; each command of a line is matched alone"]],
    [["git log && ls"], ["rules.0.pattern: never matches: `&&` is no argument; each command of a line is matched alone"]],
    [["git 'a b'"], ["rules.0.pattern: never matches: quotes and backslashes mean nothing in a pattern; write * for a blank"]],
    [["A=1 git"], ["rules.0.pattern: never matches: a variable in front of a command is not part of it"]],
    [["~/x"], ["rules.0.pattern: never matches: a program that only a shell can tell is covered by no rule"]],
  ])("%j", (patterns, expected) => {
    expect(of(...patterns)).toEqual(expected);
  });

  test("are not given for rules behind one with sandbox_paths", () => {
    expect(shellWarnings({ rules: [{ pattern: "rm", sandbox_paths: ["out"] }, { pattern: "rm" }] }, rights)).toEqual([]);
  });

  const told = (rule: object, more: object = {}) =>
    shellWarnings({ rules: [{ pattern: "x", ...rule }] }, { ...rights, ...more }).map(
      ({ path, message, isError, isHint }) =>
        `${isError ? "error" : isHint ? "hint" : "warning"} ${path.slice(2).join(".")}: ${message}`,
    );

  test.each<[object, object, readonly string[]]>([
    [
      { writes: ["nowhere:x"] },
      { readable: ["docs"] },
      ["error writes.0: `nowhere:x` is in no scope of this worker; its `rw` scopes: `.`, `out`"],
    ],
    [{ writes: ["docs/x"] }, {}, ["error writes.0: `docs/x` is in a scope that is read-only; its `rw` scopes: `.`, `out`"]],
    [{ writes: ["../x"] }, {}, ["error writes.0: `../x` is in no scope of this worker; its `rw` scopes: `.`, `out`"]],
    [
      { writes: ["out"], opens: ["src", ".env", ".git"] },
      {},
      [
        "error opens.0: `src` is not a protected name, and needs no `opens`",
        "error opens.1: `.env` is never opened to a command",
      ],
    ],
    [{ opens: [".git"] }, {}, ["error opens: needs `writes`: the folders that hold these names"]],
    [{ reads: ["key"] }, {}, ["error reads.0: `key` is no scope of this worker; its scopes: `.`, `docs`, `out`"]],
    [{ network: true }, {}, ["error network: needs `sandbox: { network_enabled: true }`"]],
    [{ writes: ["coverage", "out/x", "."], opens: [".git", ".git/config", "package.json"] }, {}, []],
    [{ network: true }, { networkEnabled: true }, []],
  ])("%j with %j", (rule, more, expected) => {
    expect(told(rule, more)).toEqual(expected);
  });

  test.each<[object, object, readonly string[]]>([
    [
      { approval_required: false },
      {},
      [
        "hint pattern: allows looks alone: it writes nothing; if `x` has to write, add `writes: [.]`, `writes: [out]`, and otherwise `writes: []`",
      ],
    ],
    [{ approval_required: false, writes: [] }, {}, []],
    [{ approval_required: false, scratch: true }, {}, []],
    [{ approval_required: false }, { writable: [] }, []],
    [{ approval_required: true }, {}, []],
    [{ blocked: true }, {}, []],
    [
      { approval_required: false, writes: [] },
      { networkEnabled: true },
      ["hint pattern: allows looks alone: it has no network; add `network: true`, or `network: false`"],
    ],
    [{ approval_required: false, writes: [], network: false }, { networkEnabled: true }, []],
  ])("tells of a rule from before effects: %j with %j", (rule, more, expected) => {
    expect(told(rule, more)).toEqual(expected);
  });
});
