/** Whether the text of `/proc/<pid>/stat` tells of a process that has ended, and that nobody has asked about yet. */
export function isZombie(stat: string): boolean {
  // The name in brackets can hold anything; the state follows it.
  return /^.*\) Z/s.test(stat);
}
