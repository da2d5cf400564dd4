import { isAbsolute, relative, sep } from "node:path";

/** The path is the folder or lies below it. By components: `/root-evil` is not within `/root`. */
export function isWithin(path: string, folder: string): boolean {
  const between = relative(folder, path);
  return between !== ".." && !between.startsWith(`..${sep}`) && !isAbsolute(between);
}
