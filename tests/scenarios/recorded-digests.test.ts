import { expect, test } from "vitest";
import { type ApprovalRequest, tool } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const tokenOf = (letters: string) => `ghp_${letters.repeat(9)}`;
const send = tool({ input: { type: "object" }, run: () => "sent" });
const files = {
  "main.worker": worker(
    "sandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { send: {}, filesystem: {}, shell: {} }",
  ),
};

interface Given {
  readonly environment?: Readonly<Record<string, string>>;
  /** A hex digit of the run's key. */
  readonly key?: string;
}

/** Sends each text, writes it over a file that holds the last one, and runs a command with it; everything is approved for the run. */
async function playTexts(texts: readonly string[], { environment = {}, key = "0" }: Given = {}) {
  const asked: ApprovalRequest[] = [];
  const calls = texts.flatMap((text) => [
    { tool: "send", args: { text } },
    { tool: "write_file", args: { path: "out/a", content: `key: ${text}` } },
    { tool: "shell", args: { command: `echo '${text}'` } },
  ]);
  const { journal, error } = await play({
    files: { ...files, "out/a": `key: ${texts.at(-1)}` },
    tools: { send },
    environment,
    key: key.repeat(64),
    machine: { commands: { echo: () => ({ stdout: "" }) } },
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "approve", remember: "run" };
      },
    },
    model: ({ turn }) => (turn <= calls.length ? { calls: calls.slice(turn - 1, turn) } : "done"),
    request: { input: "go", limits: { turns: 60 } },
  });
  expect(error).toBeUndefined();
  return { asked: asked.map(({ tool: name }) => name), journal };
}

/** All that could be a digest, by the facts' types. */
function digestsIn(journal: readonly object[]): string[] {
  return journal.flatMap((fact) => JSON.stringify(fact).match(/"[0-9a-f]{64}"/g) ?? []);
}

test("says the same of every value of a secret that is known by name", async () => {
  const values = ["hunter22", "letmein1"];
  const [one, other] = await Promise.all(
    values.map((value) => playTexts([value, "plain text"], { environment: { DOOR_KEY: value } })),
  );
  const digests = digestsIn(one?.journal ?? []);
  expect(digests.length).toBeGreaterThan(20);
  expect(digestsIn(other?.journal ?? [])).toEqual(digests);
  // Without the secret's name the digests are of the values themselves.
  expect(digestsIn((await playTexts(["letmein1", "plain text"])).journal)).not.toEqual(digests);
});

test("says nothing of a secret that its shape gives away: the same one has other digests in another run", async () => {
  const token = tokenOf("aB3d");
  const [one, other] = [await playTexts([token], { key: "1" }), await playTexts([token], { key: "2" })];
  const calls = (journal: typeof one.journal) =>
    journal.flatMap((fact) => (fact.type === "verdict" && fact.tool === "send" ? [fact.digest] : []));
  expect(calls(one.journal)).toHaveLength(1);
  expect(calls(one.journal)).not.toEqual(calls(other.journal));
});

test("tells apart what looks alike in a journal: an approval for the run covers one value, and no other", async () => {
  const key = "hunter22";
  const shapes = [tokenOf("aB3d"), tokenOf("aB3e")];
  const texts = [key, "⟦secret:DOOR_KEY⟧", "⟦~secret:DOOR_KEY⟧", ...shapes, "⟦secret:github-token⟧", `{"a":"${key}"}`];
  const { asked } = await playTexts([...texts, ...texts], { environment: { DOOR_KEY: key } });
  expect(asked.filter((name) => name === "send")).toHaveLength(texts.length + 2);
});
