import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { changingRows, harmlessSubcommands } from "../../src/toolsets/shell/programs/git.ts";
import { type OptionTable, optionTable } from "../../src/toolsets/shell/programs/options.ts";
import { knownPrograms } from "../../src/toolsets/shell/programs/registry.ts";
import { seededFraction } from "../../src/util/seeded-fraction.ts";
import { type Drive, driveEnd, driveOption, type Finding } from "./drive-options.ts";

interface Driven extends Drive {
  readonly table: OptionTable;
  /** Names for which no output shows the arity. */
  readonly unclear?: readonly string[];
}

/** Words that a program needs so that it reads its options. */
const traits: Readonly<Record<string, Partial<Drive>>> = {
  fd: { program: "fdfind", wantsPlainValues: true },
  bat: { program: "batcat", wantsPlainValues: true },
  rg: { before: ["x"], wantsPlainValues: true },
  ack: { before: ["x"], wantsPlainValues: true },
  ag: { before: ["x"] },
  tree: { refuses: /Invalid argument/ },
  xxd: { canary: "-Q", refuses: /Usage:/ },
  zstd: { refuses: /Incorrect parameter/ },
  ssh: { canary: "-%" },
  bash: { canary: "-%" },
  exec: { program: "bash", before: ["-c", 'exec "$@"', "exec"], canary: "-%" },
  jobs: { program: "bash", before: ["-c", 'jobs "$@"', "jobs"], canary: "-%" },
};

const gitTraits: Readonly<Record<string, Partial<Driven>>> = {
  // It repeats what it does not know.
  "rev-parse": { refuses: /^--llm-do-x$/m, unclear: ["-q", "--short"] },
  diff: { unclear: ["--branches"] },
  "cherry-pick": { unclear: ["-S", "--gpg-sign"] },
  revert: { unclear: ["-S", "--gpg-sign"] },
};

/**
 * Not driven: the same program under another name, one without options of its own, one that says nothing of options that it does not
 * know (unzip), one that reads numbers in its own way (ack), and what Debian has in many versions or that reaches for the network.
 */
const undriven = new Set(
  `egrep fgrep zgrep zegrep zfgrep bzgrep bzegrep bzfgrep xzgrep xzegrep xzfgrep lzgrep lzegrep lzfgrep zstdgrep more gunzip bunzip2 unxz builtin command busybox toybox parallel unzip ack npm npx yarn pnpm cargo go pip pipx uv bunx
  pnpx uvx docker podman svn hg sh dash rbash zsh ksh mksh fish csh tcsh ash nu elvish xonsh pwsh powershell`.split(/\s+/),
);

/** The part of the options that one run drives. `npm run test:long` drives all of them. */
const share = Number(process.env["LLM_DO_OPTION_SHARE"] ?? 0.06);

const tables: readonly (readonly [string, OptionTable])[] = [...knownPrograms].flatMap(([name, { options }]) => {
  if (options === undefined) return [];
  return name === "awk" ? [["gawk", options] as const, ["mawk", options] as const] : [[name, options] as const];
});

const ofHistory = harmlessSubcommands.get("log");

const gitTables = [
  ["log", ofHistory] as const,
  ["diff", ofHistory] as const,
  ...[...harmlessSubcommands].filter(([, table]) => table !== ofHistory),
  ...Object.entries(changingRows).map(([name, rows]) => [name, optionTable(rows, { ends: false })] as const),
].flatMap(([name, table]) => (table === undefined ? [] : [{ program: "git", before: [name], table, ...gitTraits[name] }]));

const drives: readonly Driven[] = [
  ...tables.filter(([name]) => !undriven.has(name)).map(([name, table]) => ({ program: name, table, ...traits[name] })),
  ...gitTables,
];

function has(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder for each program: some programs remove and write. */
function makeFolder(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-options-"));
  folders.push(folder);
  for (const name of ["a", "b"]) writeFileSync(join(folder, name), "x\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, stdio: "ignore" });
  if (program === "git") {
    git("init", "-q");
    git("add", "a");
    git("commit", "-qm", "x");
  }
  return folder;
}

const totals: Partial<Record<Finding | "skipped", number>> = {};
const missing: string[] = [];

function count(finding: Finding | "skipped", names = 1): void {
  totals[finding] = (totals[finding] ?? 0) + names;
}

function namesOf(title: string, { rows }: OptionTable) {
  const all = rows.flatMap((row) => row.names.map((name) => ({ row, name })));
  return all.filter(({ name }) => seededFraction(`${title} ${name}`) < share);
}

describe("tables of options agree with the programs", () => {
  const titled = drives
    .map((drive) => [[drive.program, ...(drive.before ?? [])].join(" "), drive] as const)
    .filter(([title, { table }]) => namesOf(title, table).length > 0);
  test.each(titled)(
    "%s",
    async (title, drive) => {
      const names = namesOf(title, drive.table);
      if (!has(drive.program)) {
        missing.push(title);
        count("skipped", names.length);
        return;
      }
      const folder = makeFolder(drive.program);
      const odd: string[] = [];
      const next = async (): Promise<void> => {
        const pair = names.shift();
        if (pair === undefined) return;
        const found = await driveOption(drive, { table: drive.table, ...pair, cwd: folder });
        count(found);
        const isFine = ["claimed", "absent", "ends"].includes(found) || drive.unclear?.includes(pair.name) === true;
        if (!isFine) odd.push(`${pair.name}: ${found}, not ${pair.row.arity}`);
        await next();
      };
      await Promise.all([next(), next(), next(), next()]);
      expect(odd).toEqual([]);
    },
    300_000,
  );

  // A program that starts others runs the words that follow.
  const ending = drives
    .filter((drive) => drive.table.ends && !drive.table.stops)
    .map((drive) => [[drive.program, ...(drive.before ?? [])].join(" "), drive] as const)
    .filter(([title, { program }]) => has(program) && seededFraction(`${title} --`) < Math.max(share, 0.3));
  test.each(ending)("%s ends its options at `--`", async (_title, drive) => {
    expect(await driveEnd(drive, makeFolder(drive.program))).toBe("");
  });

  test("covers enough options", () => {
    const told = Object.entries(totals).map(([finding, number]) => `${finding} ${number}`);
    process.stderr.write(`options driven: ${told.join(", ")}; programs that are not here: ${missing.join(", ") || "none"}\n`);
    expect(totals.claimed ?? 0).toBeGreaterThan(missing.length === 0 ? 300 * share : 0);
  });
});
