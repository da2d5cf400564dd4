/** A line that is longer than it may be. */
export class LineTooLong extends Error {}

/**
 * Yields the lines of a text in UTF-8, each with its line feed; a last one may have none. A carriage return belongs to its line, and so do
 * the other separators of Unicode, which JSON allows in a text. Rejects with a `LineTooLong` for one of more than `longest` characters.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, longest = 100_000_000): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let begun: string[] = [];
  let length = 0;
  let line = 1;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    for (let from = 0; from < text.length; ) {
      const end = text.indexOf("\n", from) + 1 || text.length;
      const part = text.slice(from, end);
      from = end;
      length += part.length;
      if (length > longest) throw new LineTooLong(`line ${line} is longer than ${longest} characters`);
      begun.push(part);
      if (!part.endsWith("\n")) continue;
      yield begun.join("");
      begun = [];
      length = 0;
      line++;
    }
  }
  const last = begun.join("") + decoder.decode();
  if (last !== "") yield last;
}
