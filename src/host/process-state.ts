/** Returns whether `/proc/<pid>/stat` describes a zombie: a process that has ended, and that its parent has not reaped. */
export function isZombie(stat: string): boolean {
  // The name in brackets can hold anything; the state follows it.
  return /^.*\) Z/s.test(stat);
}
