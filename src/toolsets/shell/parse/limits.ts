/** What is longer or more than this is never run without a question, whatever the rules say. */
export const maxCommandLength = 10_000;
export const maxNodes = 5000;
export const maxSimpleCommands = 100;
/** How deep scripts may lie in scripts. */
export const maxDepth = 4;
