export function greet(): string {
  return "hi";
}
