import { describe, expect, it } from "vitest";
import { openQuestions } from "../../src/effects/open-questions.ts";
import { factFields } from "../../src/journal/fact-fields.ts";
import type { FactType } from "../../src/protocol/fact.ts";
import { renderPage } from "../../src/ui/page/render-page.ts";
import { listRun, renderListedRun } from "../../src/ui/records/list-run.ts";
import { renderCosts } from "../../src/ui/records/render-costs.ts";
import { renderJournal } from "../../src/ui/records/render-journal.ts";
import { renderMessages } from "../../src/ui/records/render-messages.ts";
import { renderQuestions } from "../../src/ui/records/render-questions.ts";
import { renderReplay } from "../../src/ui/records/render-replay.ts";
import { renderWaiting } from "../../src/ui/records/render-waiting.ts";
import { escapes, harmIn, poisoned, toEntries, usualFact } from "./hostile-facts.ts";

const types = Object.keys(factFields) as readonly FactType[];

/** A run with one fact of each type, of which one is another one. */
function runWith(type: FactType, fact: unknown) {
  const others = types.filter((one) => one !== "run-start" && one !== "run-end");
  const facts = ["run-start" as const, ...others, "run-end" as const].map((one) => (one === type ? fact : usualFact(one)));
  const kinds = ["model", "question", "connect", "step"] as const;
  const more =
    type === "intent" || type === "result" ? kinds.map((kind) => ({ ...(fact as object), kind, key: `${kind} 1.1` })) : [];
  return toEntries([...facts.slice(0, -1), ...more, ...facts.slice(-1)]);
}

const hostileVerdict = { type: "blocked", why: escapes } as const;
const verdicts = [{ callPath: escapes, recorded: { type: "allowed", why: "" } as const, today: hostileVerdict }];
const replayed = { runId: escapes, same: false, drifts: [], verdicts };

const style = { columns: 100_000, style: (_: unknown, text: string) => text };

describe.each(types)("a hostile text in a field of %s", (type) => {
  const run = (fact: unknown) => runWith(type, fact);

  it("does nothing to a terminal", () => {
    for (const fact of poisoned(usualFact(type), escapes)) {
      const entries = run(fact);
      const [first, last] = [entries[0], entries.at(-1)];
      const ends = { version: 2, ...(first && last ? { first, last } : {}) } as const;
      const problems = new Map([[1, escapes]]);
      const questions = openQuestions(entries);
      const recorded = fact as never;
      const shown = [
        renderJournal({ version: 2, entries, problems, torn: true }, 100_000),
        renderListedRun({ runId: "r", folder: "/p", ...listRun(ends) }, 100_000),
        renderCosts(entries),
        renderQuestions({ runId: escapes, questions }, style),
        renderWaiting({ runId: escapes, questions }, [escapes]),
        renderReplay({ ...replayed, differences: [{ callPath: escapes, recorded }] }, 100_000),
      ];
      expect({ fact, harm: shown.flatMap(harmIn) }).toEqual({ fact, harm: [] });
      // Lines of a text stay lines, with a margin; a heading is the only line that is not indented.
      const messages = renderMessages(entries);
      expect({ fact, harm: harmIn(messages) }).toEqual({ fact, harm: [] });
      expect({ fact, lines: messages.split("\n").filter((line) => !/^(?: {2}|--- |$)/.test(line)) }).toEqual({ fact, lines: [] });
    }
  });

  it("is no markup of a page", () => {
    for (const fact of poisoned(usualFact(type), '</script><script>x()</script><img src=x onerror="x()">')) {
      const pages = [fact, usualFact(type)].map((one) => renderPage({ entries: run(one), problems: new Map(), torn: false }));
      const [page, usual] = pages;
      if (page === undefined) continue;
      expect(page.match(/<script/g)?.length).toBe(usual?.match(/<script/g)?.length);
      expect(page).not.toContain("<img src=x");
    }
  });
});
