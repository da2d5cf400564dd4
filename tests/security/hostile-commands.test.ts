import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { factFields } from "../../src/journal/fact-fields.ts";
import { withSeed } from "../host/seeded.ts";
import { leavesOfFacts } from "./hostile-leaves.ts";
import { recordLines } from "./record-commands.ts";

/** How many commands are called; `npm run test:long` calls more. */
const commands = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 200);

/** How many of them one process calls: what ended counts, whatever happens to the rest. */
const most = 1_000;
const parts = Array.from({ length: Math.ceil(commands / most) }, (_, part) => part * most);

test.each(parts)("no command does what a hostile text in a field of a record says, from command %i on", async (first) => {
  const count = Math.min(most, commands - first);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-hostile-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const player = spawn(
    process.execPath,
    [join(import.meta.dirname, "fixtures/play-record-commands.ts"), folder, String(first), String(count)],
    {
      stdio: ["ignore", "inherit", "inherit"],
      // A session of its own: a question must not reach the terminal that the tests run on.
      detached: true,
    },
  );
  await once(player, "exit");
  const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  expect(report, withSeed).toMatchObject({ harmful: [], commands: count });
});

test("the fields and the commands are those of the tables", () => {
  const leaves = leavesOfFacts([]);
  expect(new Set(leaves.map((leaf) => leaf.in))).toEqual(new Set(Object.keys(factFields)));
  const lines = recordLines("ID").map(({ words }) => words.join(" "));
  expect(lines).toEqual(
    expect.arrayContaining(["resume ID .", "runs show ID . --messages", "calls main . --all", "view ID . --no-open"]),
  );
});
