const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** `20261121-224501-k3f9q2`: the second in UTC, then six characters from `random` (0 to 1). */
export function createId(now: number, random: () => number): string {
  const time = new Date(now).toISOString().replace(/[-:]/g, "").slice(0, 15).replace("T", "-");
  const tail = Array.from({ length: 6 }, () => alphabet[Math.floor(random() * alphabet.length)]);
  return `${time}-${tail.join("")}`;
}
