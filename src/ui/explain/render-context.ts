import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { show } from "./phrases.ts";

/** Lists what the first request of each worker holds without its input, the largest part first; in tokens, at four characters each. */
export function renderContext({ workers }: Outline): string {
  return workers.flatMap(renderWorker).join("");
}

function renderWorker({ name, context }: OutlinedWorker): string[] {
  const total = formatCount(context.reduce((sum, { tokens }) => sum + tokens, 0));
  const rows = context.toSorted((a, b) => b.tokens - a.tokens);
  return [
    `${show(name)}: about ${total} tokens before its input\n`,
    ...rows.map(({ part, tokens }) => `  ${formatCount(tokens).padStart(total.length)} ${show(part)}\n`),
  ];
}
