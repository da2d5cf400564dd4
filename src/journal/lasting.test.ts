import { expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import { memoryHost } from "../testing/memory-host.ts";
import { Redactor } from "../util/redactor.ts";
import { createJournal } from "./journal.ts";
import { createPrivateFolder } from "./private-folder.ts";

function stepOf(name: string): Fact {
  return { type: "result", callPath: "main", key: `step ${name}`, kind: "step", outcome: { type: "value", value: name } };
}

/** How often a journal with two facts was brought to the disk. */
async function countSyncs({ durable, ...begun }: { readonly durable: boolean; readonly entries?: number }): Promise<number> {
  const memory = memoryHost();
  let syncs = 0;
  const openAppend = async (path: string, mode?: number) => {
    const file = await memory.files.openAppend(path, mode);
    return { append: file.append.bind(file), close: file.close.bind(file), sync: async () => void syncs++ };
  };
  const host = { ...memory, files: Object.assign(Object.create(memory.files), { openAppend }) };
  const folder = createPrivateFolder(host, "r1");
  const redactor = new Redactor([], folder.secrets);
  const journal = await createJournal({ host, directory: "/work/.llm-do/runs/r1", redactor, private: folder, ...begun });
  journal.append(stepOf("one"));
  await journal.written({ durable });
  journal.append(stepOf("two"));
  expect(await journal.close()).toBeUndefined();
  return syncs;
}

test("the disk is waited for before a side effect, and at the end of a run that had one or goes on", async () => {
  expect(await countSyncs({ durable: false })).toBe(0);
  expect(await countSyncs({ durable: true })).toBe(2);
  expect(await countSyncs({ durable: false, entries: 3 })).toBe(1);
});
