import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLinesOf, readBlocks } from "../scripts/check-docs.ts";
import { compile } from "../src/index.ts";

/*
 * Every example compiles, and runs as its README says: with a script in the place of the model, in a copy, so that what it
 * writes does not end up in the repository.
 */

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "llm-do-examples-"));
const shop = join(folder, "shop.db");
const names = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

beforeAll(() => {
  if (!existsSync(join(root, "dist", "index.js"))) throw new Error("there is no dist/: run `npm run build` first");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  mkdirSync(join(folder, "examples"));
  for (const name of names)
    cpSync(join(root, "examples", name), join(folder, "examples", name), { recursive: true, filter: isSource });
  spawnSync(process.execPath, [join(root, "examples/database/make-shop.ts"), shop]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Not what earlier runs in the repository left behind. */
function isSource(path: string): boolean {
  return !/[\\/](?:\.llm-do|evaluations|generated|output)$/.test(path);
}

describe.each(names)("%s", (name) => {
  const place = join(folder, "examples", name);

  test("has a README that says what it does", () => {
    expect(readme(place)).toMatch(/^# \S/);
  });

  test("compiles without errors", async () => {
    const { program, diagnostics } = await compile({ target: place, trust: true });
    expect(diagnostics.filter(({ severity }) => severity !== "hint").map(({ code, message }) => `${code}: ${message}`)).toEqual(
      [],
    );
    expect(program).toBeDefined();
  });

  test("runs as its README says", () => {
    const lines = readBlocks(readme(place))
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => commandLinesOf(text));
    const line = lines.find((args) => args.some((arg) => arg.startsWith("scripted:")) && args.includes("--approve-all"));
    if (!line) throw new Error("its README has no command with a scripted model and --approve-all");
    const { stdout, stderr, status } = llmDo(line);
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/\S/);
  }, 60_000);
});

describe("pitchdeck_eval", () => {
  test("writes one report for each deck", () => {
    const place = join(folder, "examples", "pitchdeck_eval");
    const decks = readdirSync(join(place, "input")).map((file) => file.replace(/\.pdf$/, ".md"));
    expect(decks).toHaveLength(3);
    expect(readdirSync(join(place, "evaluations")).sort()).toEqual(decks.sort());
    for (const deck of decks)
      expect(readFileSync(join(place, "evaluations", deck), "utf8")).toMatch(/^# .+\n\n\*\*Verdict: (go|watch|pass)\*\*/);
  });

  test("without anybody to ask it writes nothing, and says so", () => {
    rmSync(join(folder, "examples", "pitchdeck_eval", "evaluations"), { recursive: true, force: true });
    const { stderr, status } = llmDo(["examples/pitchdeck_eval", "--model", "scripted:examples/pitchdeck_eval/scripted.ts"]);
    expect(status).toBe(4);
    expect(stderr).toContain("3 calls needed approval");
    expect(readdirSync(join(folder, "examples", "pitchdeck_eval", "evaluations"))).toEqual([]);
  }, 60_000);

  test("its decks are what the script makes", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/make-pitchdecks.ts", "--check"], {
      cwd: root,
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  }, 60_000);
});

describe("pitchdeck_eval_locked", () => {
  test("turns the JSON of each deck into a report by the procedure", () => {
    const place = join(folder, "examples", "pitchdeck_eval_locked", "evaluations");
    expect(readdirSync(place).sort()).toEqual(["brindle-robotics.md", "parcelmoth.md", "tidewell-sensors.md"]);
    expect(readFileSync(join(place, "parcelmoth.md"), "utf8")).toMatch(
      /^# Parcelmoth\n\n\*\*Verdict: pass\*\*[\s\S]*## Red flags\n\n- /,
    );
  });
});

test.each([
  [
    "bootstrapping",
    ["Go"],
    "Harbour Paints: Amount: 412 EUR, Due: 14 May\nMrs Lind: The blue boat leaks at the bow, again.\nNordic Ropes:",
  ],
  ["orchestrating_tool", ["Go"], "notes/roof.md: mend the roof before the rain (urgent)\n"],
  [
    "recursive_summarizer",
    ["-i", "path=texts/island.txt"],
    /^The harbour wall .* The ferry runs .* The school has .* The mill stands still/,
  ],
  ["file_organizer", ["Go"], /^inbox\/Bill water_Q3!!\.TXT -> output\/bills\/bill-water-q3\.txt\n/],
  ["web_research_agent", ["Electric ferries"], "reports/electric-ferries.md. Not found out: Electric ferries: noise.\n"],
  ["pitchdeck_eval_stabilized", ["Go"], /Parcelmoth: pass, reports\/parcelmoth\.md/],
  [
    "pitchdeck_eval_code_entry",
    ["-i", "only=parcelmoth.pdf"],
    /^\[\s*\{\s*"company": "Parcelmoth",\s*"path": "reports\/parcelmoth\.md"\s*\}\s*\]\n$/,
  ],
] as const)(
  "%s answers what its workers and tools found",
  (name, input, answer) => {
    const model = `scripted:examples/${name}/scripted.ts`;
    const { stdout } = llmDo([`examples/${name}`, ...input, "--model", model, "--approve-all", "--trust"]);
    expect(stdout).toMatch(answer);
  },
  60_000,
);

test("the list of examples has each of them", () => {
  const list = readFileSync(join(root, "examples", "README.md"), "utf8");
  expect([...list.matchAll(/\]\((\w+)\/README\.md\)/g)].map(([, name]) => name).sort()).toEqual(names.toSorted());
});

describe("what the examples leave behind", () => {
  const read = (path: string) => readFileSync(join(folder, "examples", path), "utf8");

  test.each([
    ["whiteboard_planner/output/cafe.md", "| Permit from city | Mira | 4 weeks |"],
    ["data_processor/output/team.txt", "temperature 93 at pump south, hour 09\n"],
    ["approvals_demo/output/note.md", "Dear Grace,\n"],
    ["file_organizer/files/output/letters/letter-to-all-final-final.txt", "the summer fair"],
    ["pitchdeck_eval_code_entry/output/tidewell-sensors.md", "# Tidewell Sensors\n"],
  ])("%s", (path, text) => {
    expect(read(path)).toContain(text);
  });

  test.each([
    ["SELECT paid FROM orders WHERE id = 3", "query", "main", "allow"],
    ["UPDATE orders SET paid = 0 WHERE id = 3", "execute", "main", "ask: it changes rows"],
    ["DELETE FROM orders", "execute", "main", "ask: it is for all rows"],
    ["DELETE FROM orders WHERE id = 1", "execute", "auditor.worker", "blocked: this worker only reads"],
  ])("database: %s is judged", (sql, tool, worker, verdict) => {
    const target = worker === "main" ? "examples/database" : `examples/database/${worker}`;
    const { stdout } = llmDo(["verdict", target, tool, JSON.stringify({ sql, id: "x" }), "--trust"]);
    expect(stdout).toContain(verdict);
  });

  test("approvals_demo without anybody to ask writes nothing", () => {
    rmSync(join(folder, "examples/approvals_demo/output"), { recursive: true, force: true });
    const model = "scripted:examples/approvals_demo/script.yaml";
    expect(llmDo(["examples/approvals_demo", "Grace, for the compiler", "--model", model]).status).toBe(4);
    expect(existsSync(join(folder, "examples/approvals_demo/output/note.md"))).toBe(false);
  });
});

function readme(place: string): string {
  return readFileSync(join(place, "README.md"), "utf8");
}

function llmDo(args: readonly string[]) {
  const { LLM_DO_MODEL: _, ...environment } = process.env;
  const options = {
    cwd: folder,
    encoding: "utf8",
    input: "",
    env: { ...environment, NODE_OPTIONS: "", DATABASE_URL: shop },
  } as const;
  return spawnSync(process.execPath, [join(root, "bin", "llm-do.js"), ...args], options);
}
