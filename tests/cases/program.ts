import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { runTests, type TestRequest } from "../../src/cases/run-tests.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { Provider } from "../../src/models/provider.ts";
import type { Script } from "../../src/models/scripted/script.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A program on the disk, with its tests. */
export function makeProgram(files: Readonly<Record<string, string>>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-cases-")));
  made.push(folder);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const host = createNodeHost({ workingDirectory: folder, environment: {}, homeDirectory: folder });
  return {
    folder,
    write,
    read: (path: string) => readFileSync(join(folder, path), "utf8"),
    /** All files with what they hold. */
    snapshot: () =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => statSync(join(folder, path)).isFile())
        .map((path) => [path, readFileSync(join(folder, path), "utf8")]),
    test: (options: Partial<TestRequest> = {}) => runTests({ target: ".", host, ...options }),
  };
}

/** A provider `test` whose model is a function. Counts its requests. */
export function playedBy(script: Script): { readonly providers: readonly Provider[]; readonly requests: () => number } {
  const model = scriptedModel(script, "test:model");
  const provider: Provider = { name: "test", description: "", keyVariables: [], create: async () => model };
  return { providers: [provider], requests: () => model.requests.length };
}
