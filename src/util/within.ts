import { isAbsolute, relative, sep } from "node:path";

/** The path is the folder or lies below it. By components: `/root-evil` is not within `/root`. */
export function isWithin(path: string, folder: string): boolean {
  if (isPlain(path) && isPlain(folder))
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === sep);
  const between = relative(folder, path);
  return between !== ".." && !between.startsWith(`..${sep}`) && !isAbsolute(between);
}

/** The text alone decides for absolute POSIX paths without `.`, `..` and empty components. */
function isPlain(path: string): boolean {
  return sep === "/" && path.startsWith("/") && !/\/\.{0,2}(?:\/|$)/.test(path);
}
