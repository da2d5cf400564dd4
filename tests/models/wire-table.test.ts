import { expect, it } from "vitest";
import { builtInProviders } from "../../src/models/providers/providers.ts";
import { renderTable } from "../render-table.ts";
import { dialects } from "./dialects.ts";
import { type OwnDialect, ownDialects } from "./own-dialects.ts";
import { reasoningRows } from "./reasoning-rows.ts";
import { searchRows } from "./search-rows.ts";

/*
 * Makes wire-table.md: `vitest run tests/models/wire-table.test.ts --update` writes it. The rows that the named tests play are the ones that
 * are looked for here, so that a provider, or a feature of one, cannot be added without a test.
 */

const played: readonly OwnDialect[] = [...dialects, ...ownDialects];
const dialectOf = (name: string) => played.find((dialect) => dialect.name === name);
const takes = (name: string, type: string) => {
  const { attachments } = builtInProviders.find((provider) => provider.name === name) ?? {};
  return attachments === undefined || attachments.some((glob) => type.startsWith(glob.replace("*", "")));
};

/** Why nothing is played. The test fails for a reason that is none. */
const noTools = (name: string) => (name === "perplexity" ? "takes no tools; is called by one that does" : undefined);

interface Feature {
  readonly title: string;
  /** The test that plays it. */
  readonly test: (name: string) => string | undefined;
  /** Why the provider has none of it. */
  readonly absent: (name: string) => string | undefined;
  /** The file with the rows that the test plays: `own-dialects.ts` where nothing is given. */
  readonly rows?: string;
}

const wire = (name: string) => (dialectOf(name) ? "wire" : undefined);

const features: readonly Feature[] = [
  { title: "ten tool turns", test: (name) => (noTools(name) ? undefined : wire(name)), absent: noTools },
  { title: "parallel calls", test: (name) => (noTools(name) ? undefined : wire(name)), absent: noTools },
  { title: "nested workers", test: wire, absent: () => undefined },
  { title: "structured output", test: (name) => (dialectOf(name) ? "wire-output" : undefined), absent: () => undefined },
  ...["PDF", "image"].map((title): Feature => {
    const isTaken = (name: string) => takes(name, title === "PDF" ? "application/pdf" : "image/png");
    return {
      title,
      test: (name) => (isTaken(name) ? wire(name) : undefined),
      absent: (name) => (isTaken(name) ? undefined : "not taken"),
    };
  }),
  {
    title: "reasoning goes back",
    rows: "reasoning-rows.ts",
    test: (name) => (reasoningRows.some(([row]) => row === name) ? "reasoning" : undefined),
    absent: (name) => (name === "cohere" ? "its package sends none" : noTools(name) && "no turn needs it"),
  },
  {
    title: "web search",
    rows: "search-rows.ts",
    test: (name) => {
      if (searchRows.some((row) => row.name === name)) return "web-search";
      return name === "anthropic" || name === "openai" ? "server-tools" : undefined;
    },
    absent: (name) => {
      const { serverTools = {} } = builtInProviders.find((provider) => provider.name === name) ?? {};
      return "web_search" in serverTools || noTools(name) ? undefined : "not offered";
    },
  },
  {
    title: "cached tokens",
    test: (name) => (dialectOf(name)?.reportsCache === false ? undefined : wire(name)),
    absent: (name) => (dialectOf(name)?.reportsCache === false ? "not reported" : undefined),
  },
];

const intro = `# Wires and their tests

Each provider of the table over real HTTP: the test that plays a feature, or why there is none. \`wire-table.test.ts\` makes
this table from the rows that the tests play. \`wire\` and \`wire-output\` are in \`tests/scenarios\`, the others here.
`;

it("each provider has a test of each feature, or a reason why not", async () => {
  const names = builtInProviders.map(({ name }) => name).filter((name) => name !== "scripted");
  const rows = names.map((name) => [
    `\`${name}\``,
    ...features.map(({ title, test, absent, rows = "own-dialects.ts" }) => {
      const [found, reason] = [test(name), absent(name)];
      expect([found, reason].filter(Boolean), `${name}: ${title}: a row in ${rows}, or a reason here`).toHaveLength(1);
      return found === undefined ? `(${reason})` : `\`${found}\``;
    }),
  ]);
  const head = ["provider", ...features.map(({ title }) => title)];
  await expect(`${intro}\n${renderTable([head, ...rows])}`).toMatchFileSnapshot("wire-table.md");
});
