/** Says why a recorded run of workers that were made in code does not go on from its record alone. */
export function describeCodeWorkers(id: string, workers: readonly string[]): string {
  return `the workers of ${id} are made in code (\`${workers.join("`, `")}\`): give them to \`resume\`, \`replay\` or \`fork\` of the library as \`workers\``;
}
