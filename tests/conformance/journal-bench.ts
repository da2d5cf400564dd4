import type { Host } from "../../src/host/host.ts";
import * as reading from "../../src/journal/read-journal.ts";
import { RunSecrets } from "../../src/journal/run-secrets.ts";
import { FolderPlace, keyOf, userStore } from "../../src/journal/stores/folder-store.ts";
import type { RecordReader } from "../../src/journal/stores/record-place.ts";
import type { Fact } from "../../src/protocol/fact.ts";
import { noUsage } from "../../src/protocol/usage.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { Redactor } from "../../src/util/secrets/redactor.ts";

const id = "20260101-000000-abcdef";
export const directory = `/home/user/.local/state/llm-do/runs/${keyOf({ root: "/work" }, false)}/${id}`;
export const secret = "s3cr3t-value-of-a-key";

const known = [{ name: "API_KEY", value: secret }];

async function look<T>({ files }: Host, use: (record: RecordReader) => Promise<T>): Promise<T> {
  return use(new FolderPlace(id, await files.openOwn(directory)));
}

export const readJournal = (host: Host) => look(host, reading.readJournal);
export const readJournalEnds = (host: Host) => look(host, reading.readJournalEnds);
export const readRecord = (host: Host, secrets = known) => look(host, (record) => reading.readRecord(record, secrets));
export const readFacts = async (host: Host) => (await readRecord(host)).facts;

export function setUp() {
  const host = memoryHost();
  const secrets = new RunSecrets(() => host.createKey());
  const redactor = new Redactor(known, secrets);
  const program = { root: "/work" };
  const create = () => userStore(host).create({ id, program, redactor, secrets });
  return { host, open: async () => (await create()).journal };
}

export function result(value: string): Fact {
  return {
    type: "result",
    callPath: "main/0.tool",
    key: "tool",
    kind: "tool",
    outcome: { type: "value", value: { ok: true, value } },
  };
}

/** Never a valid one. */
export function token(letter: string): string {
  return `ghp_${letter.repeat(36)}`;
}

export async function dropSecrets(host: Host): Promise<void> {
  for (const name of ["secrets.jsonl", "private"]) await host.files.remove(`${directory}/${name}`);
}

/** One fact of each type. */
export const facts: readonly Fact[] = [
  {
    ...{
      type: "run-start",
      runId: "r",
      program: "p",
      programDigest: "d",
      entry: "main",
      mode: "prompt",
      version: "1",
      onDenied: "return",
      limits: {},
    },
    input: { input: { input: "go" }, files: [], fragments: [] },
  },
  {
    type: "call-start",
    callPath: "main",
    kind: "worker",
    name: "main",
    depth: 0,
    input: { input: {}, files: [], fragments: [] },
  },
  {
    ...{ type: "verdict", callPath: "main/0.t", key: "1", tool: "t", args: {}, facts: {}, digest: "d" },
    verdict: { type: "ask", why: "w", isUnstated: true },
  },
  { type: "refusal", callPath: "main/1.t", key: "1", tool: "t", error: { type: "not_found", error: "no" } },
  { type: "decision", callPath: "main/0.t", key: "1", tool: "t", decision: { type: "deny" }, source: "nobody" },
  { type: "revocation", callPath: "main/0.t", worker: "main", tool: "t", memory: "m" },
  { type: "grant", callPath: "main/0.t", key: "1", tool: "t" },
  { type: "intent", callPath: "main/0.t", key: "tool", kind: "tool", digest: "d", sideEffect: true, detail: {} },
  result("x"),
  { type: "limit", callPath: "main", key: "model 2.1", limit: "tokens", allowed: 5 },
  { type: "code-call", callPath: "main/0.t", key: "call t d 1", path: "main/0.t/0.t" },
  { type: "artifact", callPath: "main", key: "artifact 1", name: "a.png", sha256: "0" },
  { type: "call-end", callPath: "main", stopReason: "done", usage: noUsage },
  { type: "run-end", stopReason: "done", usage: noUsage, denied: 0 },
];
