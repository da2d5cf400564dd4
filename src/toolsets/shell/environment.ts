/** Keeps programs from starting others by themselves: pagers, and what `less` can do. The runner sets what it takes for git. */
export const quietEnvironment: Readonly<Record<string, string>> = {
  PAGER: "cat",
  MANPAGER: "cat",
  LESSSECURE: "1",
};
