import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { type GitSetting, parseGitConfiguration, printGitConfiguration } from "../../src/host/wall/git/git-configuration.ts";

const folder = mkdtempSync(join(tmpdir(), "llm-do-git-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** As git itself reads the text; undefined where it refuses it. */
function readByGit(text: string): readonly (readonly [string, string | undefined])[] | undefined {
  writeFileSync(join(folder, "config"), text);
  try {
    const told = execFileSync("git", ["config", "-z", "-l", "-f", join(folder, "config")], { stdio: "pipe" }).toString();
    return told
      .split("\0")
      .slice(0, -1)
      .map((one) => {
        const end = one.indexOf("\n");
        return end === -1 ? ([one, undefined] as const) : ([one.slice(0, end), one.slice(end + 1)] as const);
      });
  } catch {
    return undefined;
  }
}

const toPair = ({ section, subsection, key, value }: GitSetting) =>
  [[section, ...(subsection === undefined ? [] : [subsection]), key].join("."), value] as const;

const pieces = [
  "[a]",
  "[a.B]",
  '[a "b"]',
  '[a "x\\"y"]',
  "k",
  "Key-2",
  "=",
  " = ",
  "v",
  '"',
  "\\",
  "\n",
  "\r\n",
  "#",
  ";",
  " ",
  "\t",
  "\\n",
  "[",
  "]",
  "\\\n",
  "é",
  "1",
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((all) => all.join(""));

test("reads what git reads, and prints what it reads the same", () => {
  let read = 0;
  for (const one of [
    ...fc.sample(text, { numRuns: 250, seed: 1 }),
    "[a]\nk=v\n".repeat(3),
    "\ufeff[a]k",
    "[a] k = x \\\n y # z\nj",
  ]) {
    const settings = parseGitConfiguration(one);
    // A text that is refused is never taken for less than git takes it for: nothing of it is used.
    if (settings === undefined) continue;
    const told = readByGit(one);
    if (told === undefined) continue;
    read++;
    expect(settings.map(toPair), JSON.stringify(one)).toEqual(told);
    expect(readByGit(printGitConfiguration(settings)), JSON.stringify(one)).toEqual(told);
  }
  expect(read).toBeGreaterThan(30);
});
