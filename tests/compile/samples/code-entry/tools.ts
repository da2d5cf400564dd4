export async function main(): Promise<number> {
  return 1;
}
