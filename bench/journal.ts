// What the journal of a run of 20 turns holds: lines, bytes and syncs, where each turn reads a file and where each writes one.
// `node bench/journal.ts`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createNodeHost } from "../src/host/node-host.ts";
import { type RunRequest, run } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";
import { runsIn, withAppends } from "../tests/records.ts";
import { printRow } from "./timing.ts";

const turns = 20;
const state = mkdtempSync(join(tmpdir(), "llm-do-bench-state-"));

/** Counts the syncs of every file that is opened for appending. */
function countingHost() {
  const host = createNodeHost({ environment: { ...process.env, LLM_DO_STATE_DIR: state } });
  const syncs = new Map<string, number>();
  const files = withAppends(host.files, (path, file) => ({
    append: (text) => file.append(text),
    size: () => file.size(),
    close: () => file.close(),
    sync: () => {
      syncs.set(basename(path), (syncs.get(basename(path)) ?? 0) + 1);
      return file.sync();
    },
  }));
  return { host: { ...host, files }, syncs };
}

async function record(tool: string, argsOf: (turn: number) => Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  for (let turn = 1; turn <= turns; turn++) writeFileSync(join(root, `a${turn}.txt`), "a line\n");
  writeFileSync(join(root, "main.worker"), "---\ndescription: d\ntoolsets:\n  filesystem: {}\n---\nYou help.\n");
  const model = scriptedModel(({ turn }) => (turn < turns ? { calls: [{ tool, args: argsOf(turn) }] } : "done"), "test:model");
  const { host, syncs } = countingHost();
  const provider = { name: "test", description: "for the bench", keyVariables: [], create: async () => model };
  const request: RunRequest = {
    ...{ target: root, host, input: "go", model: "test:model", trust: true, providers: [provider] },
    approval: { mode: "approve_all" },
  };
  await run(request);
  const runs = runsIn(root, state);
  const text = readFileSync(join(runs, readdirSync(runs).sort()[0] ?? "", "journal.jsonl"), "utf8");
  rmSync(root, { recursive: true });
  return { lines: text.trimEnd().split("\n").length, bytes: Buffer.byteLength(text), syncs };
}

printRow("20 turns", "lines", "bytes", "syncs", "of the secrets", "of undo's log");
printRow("---", "---", "---", "---", "---", "---");
const show = (title: string, { lines, bytes, syncs }: Awaited<ReturnType<typeof record>>) =>
  printRow(
    title,
    ...[lines, bytes, ...["journal.jsonl", "secrets.jsonl", "writes.jsonl"].map((name) => syncs.get(name) ?? 0)].map(String),
  );
show("each reads a file", await record("read_file", (turn) => ({ path: `a${turn}.txt` })));
show("each writes a file", await record("write_file", (turn) => ({ path: `b${turn}.txt`, content: "x" })));
rmSync(state, { recursive: true });
