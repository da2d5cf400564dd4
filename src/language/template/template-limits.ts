/** What a template may take, so that neither a careless author nor strange input can hold a run up. */
export const templateLimits = {
  /** Characters of one text, and of a text with all that it renders. */
  characters: 200_000,
  allCharacters: 1_000_000,
  /** Places to fill in and tags, in one text. */
  places: 10_000,
  /** Characters of one of these. */
  place: 2_000,
  /** Blocks in one another. */
  depth: 50,
  /** Different files that are rendered. */
  files: 100,
  /** Characters printed and list entries made, in one rendering. */
  memory: 10_000_000,
  milliseconds: 5_000,
} as const;
