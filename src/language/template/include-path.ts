/**
 * The path of a file to render, without `./`; undefined for one that could lead out of the folders where such files are
 * looked for, whatever the system makes of it.
 */
export function toIncludePath(written: string): string | undefined {
  if (written.length > 500 || /[\\\0:*?"<>|~]|^\/|[\u0001-\u001f]/.test(written)) return undefined;
  const parts = written.split("/").filter((part) => part !== "." && part !== "");
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/");
}
