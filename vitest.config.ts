import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Each file of tests loads our sources anew: their compiled form is kept, for the workers and the commands that they start.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "llm-do-tests-compiled");

// Runs in the process of a test are recorded apart from the user's own.
process.env["LLM_DO_STATE_DIR"] = join(tmpdir(), `llm-do-tests-state-${process.pid}`);
process.on("exit", () => rmSync(join(tmpdir(), `llm-do-tests-state-${process.pid}`), { recursive: true, force: true }));

export default defineConfig({
  test: {
    // Many tests wait for commands and terminals: a third worker uses the time of the other two.
    maxWorkers: 3,
    // A machine that does other work beside is no reason to fail.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    experimental: { viteModuleRunner: false },
    projects: [
      {
        extends: true,
        test: {
          name: "kept",
          // They run in process, and leave nothing behind in it: a worker goes on to the next file with what it has loaded.
          include: [
            "src/**/*.test.ts",
            "tests/{authoring,cases,compile,conformance,explain,language,models,scenarios,security}/**/*.test.ts",
          ],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: [
            "tests/*.test.ts",
            "tests/{boundary,cli,doors,executor,host,map,mcp,package,postgres,shell,soak,types}/**/*.test.ts",
          ],
        },
      },
    ],
  },
});
