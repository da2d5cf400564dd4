import { describe, expect, test } from "vitest";
import {
  directory,
  dropSecrets,
  facts,
  readFacts,
  readJournal,
  readRecord,
  result,
  secret,
  setUp,
  token,
} from "../../tests/conformance/journal-bench.ts";
import type { Fact } from "../protocol/fact.ts";
import { sha256 } from "../util/sha256.ts";

describe("secrets of a journal", () => {
  test("holds no known secret, neither in lines nor in blobs, and keeps what identifies a fact", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append({ ...result(`${secret} ${"x".repeat(20_000)}`), digest: secret } as Fact);
    journal.append(result(`key: ${secret}`));
    await journal.close();
    const { entries } = await readJournal(host);
    expect(entries[0]).toMatchObject({ digest: secret });
    const all = JSON.stringify(host.snapshot(directory)).replace(`\\"digest\\":\\"${secret}\\"`, "");
    expect(all).not.toContain(secret);
    expect(all).toContain("⟦secret:API_KEY⟧");
  });

  test("tells secrets of one shape apart, and gives them back with the kept values alone", async () => {
    const { host, open } = setUp();
    const texts = [`one ${token("a")} two ${token("b")}`, `again ${token("a")}, and ${secret}`];
    const journal = await open();
    for (const text of texts) journal.append(result(text));
    await journal.close();
    const lines = await host.files.readText(`${directory}/journal.jsonl`);
    const [one, two, again] = [...lines.matchAll(/⟦secret:github-token:([0-9a-f]{6})⟧/g)].map(([, id]) => id);
    expect([one === two, one === again]).toEqual([false, true]);
    expect(lines).not.toContain("ghp_");
    expect(await readRecord(host)).toMatchObject({ facts: texts.map(result), isWhole: true });
    const rotated = await readRecord(host, [{ name: "API_KEY", value: "another-value" }]);
    expect(rotated.facts[1]).toEqual(result(`again ${token("a")}, and another-value`));
    await dropSecrets(host);
    const { facts: gone, isWhole } = await readRecord(host);
    expect({ gone, isWhole }).toEqual({
      gone: [
        result(`one ⟦secret:github-token:${one}⟧ two ⟦secret:github-token:${two}⟧`),
        result(`again ⟦secret:github-token:${one}⟧, and ⟦secret:API_KEY⟧`),
      ],
      isWhole: false,
    });
  });

  test("takes a token that stands in content for text, in values and in keys", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const texts = ["⟦secret:API_KEY⟧", "⟦~secret:API_KEY⟧ ⟦~~secret:", "⟦secret:", `⟦${secret}`, `${token("a")}⟦secret:x⟧`];
    for (const text of texts) journal.append(result(text));
    const keyed = { ok: true, value: { "⟦secret:API_KEY⟧": 1, [secret]: 2, $blob: "x", $private: "y" } };
    journal.append({ ...result(""), outcome: { type: "value", value: keyed } } as Fact);
    await journal.close();
    const { facts: read } = await readRecord(host);
    expect(read).toEqual([...texts.map(result), { ...result(""), outcome: { type: "value", value: keyed } }]);
  });

  test("restores no name that its run did not record", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result(`it is ${token("a")}`));
    await journal.close();
    const path = `${directory}/journal.jsonl`;
    host.put(path, (await host.files.readText(path)).replace("it is", "⟦secret:API_KEY⟧"));
    expect(JSON.stringify(await readFacts(host))).not.toContain(secret);
  });

  test("keeps a file with a secret as it is, apart from the other files", async () => {
    const { host, open } = setUp();
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from(token("a")), Buffer.alloc(10_000)]);
    const part = { type: "file", name: "a.bin", mediaType: "application/octet-stream", bytes: bytes.length };
    const file = { ...part, sha256: sha256(bytes), data: bytes.toString("base64") };
    const fact = { ...result(""), outcome: { type: "value", value: { ok: true, value: file } } } as unknown as Fact;
    const journal = await open();
    journal.append(fact);
    await journal.close();
    expect(await host.files.names(`${directory}/blobs`)).toEqual([]);
    expect(await readFacts(host)).toEqual([fact]);
    const [name = ""] = await host.files.names(`${directory}/private`);
    host.put(`${directory}/private/${name}`, "something else");
    await expect(readFacts(host)).rejects.toThrow(/journal\.jsonl:1: the private file .* was changed/);
    host.put(`${directory}/secrets.jsonl`, "nonsense\n");
    await expect(readFacts(host)).rejects.toThrow(/secrets\.jsonl:1: this line is not a key of a run/);
    await dropSecrets(host);
    const gone = Buffer.from("⟦secret:file⟧").toString("base64");
    expect(await readFacts(host)).toMatchObject([{ outcome: { value: { value: { ...file, data: gone } } } }]);
  });

  test("keeps no secrets where it holds none", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const fact of facts) journal.append(fact);
    await journal.close();
    expect(await host.files.kind(`${directory}/secrets.jsonl`)).toBeUndefined();
    expect(await host.files.kind(`${directory}/private`)).toBeUndefined();
  });

  test("goes on with tokens alone where secrets cannot be written", async () => {
    const { host, open } = setUp();
    host.setFaults((operation, path) => (operation === "append" && path.endsWith("/secrets.jsonl") ? "ENOSPC" : undefined));
    const journal = await open();
    for (const _ of [1, 2]) journal.append(result(token("a")));
    await journal.written({ durable: true });
    expect(await journal.close()).toBeUndefined();
    expect(await readRecord(host)).toMatchObject({ facts: [{ type: "result" }, { type: "result" }], isWhole: false });
  });
});
