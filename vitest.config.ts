import { defineConfig } from "vitest/config";
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
    // Many tests wait for commands and terminals: a third worker uses the time of the other two.
    maxWorkers: 3,
    // A machine that does other work beside is no reason to fail.
    testTimeout: 60_000,
    experimental: { viteModuleRunner: false },
  },
});
