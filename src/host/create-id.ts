const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * `20261121-224501-k3f9q2`: the second in UTC, two characters for the millisecond, then four from `random` (0 to 1). Ids sort by
 * time.
 */
export function createId(now: number, random: () => number): string {
  const time = new Date(now).toISOString().replace(/[-:]/g, "").slice(0, 15).replace("T", "-");
  const milliseconds = now % 1000;
  const tail = [Math.floor(milliseconds / 32), milliseconds % 32, ...Array.from({ length: 4 }, () => Math.floor(random() * 32))];
  return `${time}-${tail.map((digit) => alphabet[Math.floor(digit)]).join("")}`;
}
