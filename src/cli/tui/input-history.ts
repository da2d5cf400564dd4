import { join } from "node:path";
import type { Host } from "../../host/host.ts";
import { openKeyFile, type StoredKey } from "../../host/own-files/key-file.ts";
import { isRecord } from "../../protocol/json.ts";
import { longestHistory } from "../../ui/tui/text-field.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { environmentSecrets, Redactor } from "../../util/secrets/redactor.ts";

/** Messages and commands of earlier conversations, the oldest first. */
export interface InputHistory {
  readonly texts: readonly string[];
  add(text: string): void;
  /** Resolves when all texts are kept. Never rejects: a conversation does not fail because it cannot be recalled. */
  written(): Promise<void>;
}

/** In UTF-16 units. A longer text is not kept. */
const longestText = 10_000;
const mostBytes = 16_000_000;

export const noHistory: InputHistory = { texts: [], add: () => undefined, written: async () => undefined };

/**
 * Opens the history in the user's state folder, readable for its owner alone. Texts that hold a known secret, or what looks like one, are
 * not kept. Answers to questions never come here.
 */
export async function openInputHistory(host: Host): Promise<InputHistory> {
  const { files, stateDirectory, environment } = host;
  const path = join(stateDirectory, "input-history.jsonl");
  const stored = await openKeyFile(host)
    .read()
    .catch((): Readonly<Record<string, StoredKey>> => ({}));
  const keys = Object.entries(stored).map(([name, { key }]) => ({ name, value: key }));
  const redactor = new Redactor([...environmentSecrets(environment), ...keys]);
  const read = async () => parseTexts(await files.readText(path, { maxBytes: mostBytes }).catch(() => ""));
  const keep = async (text: string) => {
    await files.makeDirectory(stateDirectory, 0o700);
    await files.alone(path, async () => {
      const earlier = await read();
      if (earlier.at(-1) === text) return;
      const lines = [...earlier, text].slice(-longestHistory).map((one) => `${JSON.stringify({ v: 1, text: one })}\n`);
      await files.writeAtomically(path, lines.join(""), 0o600);
    });
  };
  let tail = Promise.resolve();
  return {
    texts: await read(),
    add: (text) => {
      if (text.trim() === "" || text.length > longestText || redactor.holdsSecret(text)) return;
      tail = tail.then(() => keep(text)).catch(() => undefined);
    },
    written: () => tail,
  };
}

/** Malformed lines are ignored. */
function parseTexts(content: string): readonly string[] {
  return content.split("\n").flatMap((line) => {
    const entry = parseJson(line);
    return isRecord(entry) && entry["v"] === 1 && typeof entry["text"] === "string" ? [entry["text"]] : [];
  });
}
