import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/**
 * Makes a world once for the tests of a file, since each command that makes it costs a start. Every test has it as it was made, at the same
 * place. `make` gives the folder of the program; its parent holds the state folder, and is removed after each test.
 */
export function keepWorld<World extends { readonly root: string }>(make: () => Promise<World>): () => Promise<World> {
  const kept = join(realpathSync(mkdtempSync(join(tmpdir(), "llm-do-world-"))), "world");
  afterAll(() => rmSync(dirname(kept), { recursive: true, force: true }));
  let made: World | undefined;
  return async () => {
    if (made === undefined) {
      made = await make();
      cpSync(dirname(made.root), kept, { recursive: true, verbatimSymlinks: true });
      return made;
    }
    const folder = dirname(made.root);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true });
    return made;
  };
}
