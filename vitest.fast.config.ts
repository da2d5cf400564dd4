import { configDefaults, defineConfig } from "vitest/config";

/** They start processes, play random cases, or wait until a limit of time is reached. */
const slow = {
  "src/language": ["print-worker-file"],
  "tests/compile": ["*.property"],
  "tests/language": ["mutation", "template", "template-mutation", "work"],
  "tests/scenarios": ["*.property", "damaged-journal", "failure-table", "long-runs", "modes", "prompts", "rules-reach"],
};

// `npm run test:fast`: the tests of single files, the samples and the scenarios, in two workers that are kept from file to file.
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tests/{compile,language,scenarios}/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      ...Object.entries(slow).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}.test.ts`)),
    ],
    // A machine that does other work beside is no reason to fail.
    testTimeout: 60_000,
    isolate: false,
    maxWorkers: 2,
    experimental: { viteModuleRunner: false },
  },
});
