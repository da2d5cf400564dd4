import { escapeText } from "../util/text/escape-text.ts";

/** Says why a recorded run of workers that were made in code does not go on from its record alone. */
export function describeCodeWorkers(id: string, workers: readonly string[]): string {
  const names = escapeText(workers.join("`, `"), { keepBackslashes: true });
  return `the workers of ${id} are made in code (\`${names}\`): give them to \`resume\`, \`replay\` or \`fork\` of the library as \`workers\``;
}
