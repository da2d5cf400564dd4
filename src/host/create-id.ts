const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const tails = alphabet.length ** 4;

/**
 * Returns a function that makes ids of times, such as `20261121-224501-k3f9q2`: the second in UTC, two characters for the millisecond, and four
 * from `random` (0 to 1), counted on within a millisecond: no two are equal. They sort by time.
 */
export function createIds(random: () => number): (now: number) => string {
  let last = -1;
  let tail = 0;
  return (now) => {
    const at = Math.floor(now);
    tail = at === last ? (tail + 1) % tails : Math.floor(random() * tails);
    last = at;
    const iso = new Date(at).toISOString();
    const date = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
    const time = iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19);
    return `${date}-${time}-${digits(at % 1000, 2)}${digits(tail, 4)}`;
  };
}

function digits(value: number, count: number): string {
  let text = "";
  for (let rest = value; text.length < count; rest = Math.floor(rest / alphabet.length))
    text = alphabet.charAt(rest % alphabet.length) + text;
  return text;
}
