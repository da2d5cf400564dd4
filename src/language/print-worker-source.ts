import { stringify } from "yaml";

/** The keys of a worker file as plain data, in the order in which they are to be written, and the text under them. */
export interface WorkerSourceParts {
  readonly frontmatter: ReadonlyMap<string, unknown>;
  readonly instructions: string;
}

/** Text of a worker file. Maps keep their order; what a text means survives, whatever characters it has. */
export function printWorkerSource({ frontmatter, instructions }: WorkerSourceParts): string {
  const keys =
    frontmatter.size === 0 ? "" : stringify(frontmatter, { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false });
  return `---\n${keys}---\n${instructions}`;
}
