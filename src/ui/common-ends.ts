/** Whole pieces are compared first, which costs little however long the texts are. */
const piece = 65_536;

/** How many characters are the same at the beginning of two texts. */
export function commonHead(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length);
  let head = 0;
  while (head + piece <= shortest && a.slice(head, head + piece) === b.slice(head, head + piece)) head += piece;
  while (head < shortest && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  return head;
}

/** How many characters are the same at the end of two texts, `most` at most. */
export function commonTail(a: string, b: string, most: number): number {
  const end = (text: string, from: number, to: number) => text.slice(text.length - from, text.length - to);
  let tail = 0;
  while (tail + piece <= most && end(a, tail + piece, tail) === end(b, tail + piece, tail)) tail += piece;
  while (tail < most && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  return tail;
}
