const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * `20261121-224501-k3f9q2`: the second in UTC, two characters for the millisecond, then four from `random` (0 to 1). Ids sort by
 * time.
 */
export function createId(now: number, random: () => number): string {
  const iso = new Date(now).toISOString();
  const date = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
  const time = iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19);
  const milliseconds = Math.floor(now % 1000);
  let tail = digit(milliseconds / 32) + digit(milliseconds % 32);
  while (tail.length < 6) tail += digit(random() * 32);
  return `${date}-${time}-${tail}`;
}

function digit(value: number): string {
  return alphabet.charAt(Math.floor(value));
}
