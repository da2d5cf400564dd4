import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listTopics, readPage, sectionsOf } from "../../src/cli/programs/read-pages.ts";
import { openTerminal } from "./open-terminal.ts";
import { runCli, temporaryFolder } from "./run-cli.ts";

const root = join(import.meta.dirname, "../..");

it("lists every page of the package", async () => {
  const pages = globSync("docs/*.md", { cwd: root }).map((path) => path.slice("docs/".length, -".md".length));
  expect(new Set(listTopics())).toEqual(new Set(["readme", ...pages]));
  const { stdout, exitCode } = await runCli(["docs"], { cwd: await temporaryFolder() });
  expect(exitCode).toBe(0);
  const width = Math.max(...listTopics().map(({ length }) => length));
  for (const topic of listTopics())
    expect(stdout).toContain(`${topic.padEnd(width)}  ${readPage(topic).title.replaceAll("`", "")}\n`);
});

it("prints the Markdown of a page into a pipe", async () => {
  const { stdout } = await runCli(["docs", "approval"], { cwd: await temporaryFolder() });
  expect(stdout).toBe(readFileSync(join(root, "docs/approval.md"), "utf8"));
});

it("finds the section of a diagnostic's code, and no heading in a code block", async () => {
  const { stdout } = await runCli(["docs", "unknown-key"], { cwd: await temporaryFolder() });
  expect(stdout).toMatch(/^\*llm-do docs diagnostics\*\n\n## unknown-key\n/);
  expect(stdout.match(/^## /gm)).toHaveLength(1);
  const page = { topic: "x", title: "X", text: "# X\n\n## A\n\n```sh\n# B\n```\n\n### C\n\nc\n\n## D\n" };
  expect(sectionsOf(page, (heading) => heading === "A")).toEqual([
    { heading: "A", text: "## A\n\n```sh\n# B\n```\n\n### C\n\nc\n" },
  ]);
  expect(sectionsOf(page, (heading) => heading === "B")).toEqual([]);
});

it("takes the beginning of a page's name", async () => {
  const { stdout } = await runCli(["docs", "cook"], { cwd: await temporaryFolder() });
  expect(stdout).toBe(readFileSync(join(root, "docs/cookbook.md"), "utf8"));
});

it("suggests a page for a misspelt topic", async () => {
  const { exitCode, stdout, stderr } = await runCli(["docs", "aproval"], { cwd: await temporaryFolder() });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain("did you mean approval?");
});

it("lays a page out at a terminal", async () => {
  const terminal = openTerminal(["docs", "events"], { cwd: await temporaryFolder(), columns: 60 });
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain("Fields of every event");
  expect(terminal.screen()).not.toMatch(/^#|\|---/m);
});
