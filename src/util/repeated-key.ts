/** Whether valid JSON holds a key twice in one object, of which a parser keeps the last alone. `value` is what the text parses to. */
export function hasRepeatedKey(json: string, value: unknown): boolean {
  return countWrittenKeys(json) > countKeys(value);
}

function countWrittenKeys(json: string): number {
  let count = 0;
  for (let start = json.indexOf('"'); start !== -1; ) {
    let end = start + 1;
    while (json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
    do end++;
    while (/\s/.test(json[end] ?? ""));
    if (json[end] === ":") count++;
    start = json.indexOf('"', end);
  }
  return count;
}

/** Walks level by level, without recursion. */
function countKeys(value: unknown): number {
  let count = 0;
  let level: unknown[] = [value];
  while (level.length > 0) {
    level = level.flatMap((one) => {
      if (typeof one !== "object" || one === null) return [];
      const inner: unknown[] = Object.values(one);
      if (!Array.isArray(one)) count += inner.length;
      return inner;
    });
  }
  return count;
}
