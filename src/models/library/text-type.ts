/** Text goes as text to every provider: not all take text files, and only so does the model see the name. */
export function isTextType(mediaType: string): boolean {
  return (
    /^text\//.test(mediaType) ||
    /\+(json|xml|yaml)$/.test(mediaType) ||
    /^application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-ndjson|jsonl)$/.test(mediaType)
  );
}
