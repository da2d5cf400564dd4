import { basename, dirname, join } from "node:path";
import type { Host, ReadOptions } from "./host.ts";

/**
 * A view of a host whose files stay as they are when they are first looked at. A module that was read as a text runs with that
 * text or not at all, so that a program which was shown to a person is the one that is imported. `given`: texts by absolute path that are
 * there without being on disk.
 */
export function createSnapshotHost(host: Host, given: ReadonlyMap<string, string> = new Map()): Host {
  const { files } = host;
  const texts = new Map<string, string>();
  const readAs = once(async (path: string, options: ReadOptions | undefined) => {
    const text = await files.readText(path, options);
    if ((texts.get(path) ?? text) !== text) throw new Error("it has changed since it was read");
    texts.set(path, text);
    return text;
  });
  const readText = async (path: string, options?: ReadOptions) =>
    given.get(path) ?? (options === undefined ? texts.get(path) : undefined) ?? readAs(path, options);
  const realPath = once(async (path: string) =>
    given.has(path) ? join(await files.realPath(dirname(path)), basename(path)) : files.realPath(path),
  );
  const kind = once(async (path: string) => (given.has(path) ? "file" : files.kind(path)));
  const names = once((path: string) => files.names(path));
  const importModule = async (path: string) => {
    const real = await Promise.all([...texts].map(async ([read, text]) => [await realPath(read), text] as const));
    return host.importModule(path, new Map(real));
  };
  return { ...host, files: { ...files, readText, realPath, kind, names }, importModule };
}

/** Equal arguments get the same promise, rejected ones included. */
function once<Args extends readonly unknown[], Value>(
  look: (...args: Args) => Promise<Value>,
): (...args: Args) => Promise<Value> {
  const found = new Map<string, Promise<Value>>();
  return (...args) => {
    const [only] = args;
    const key = args.length === 1 && typeof only === "string" ? only : JSON.stringify(args);
    const value = found.get(key) ?? look(...args);
    found.set(key, value);
    return value;
  };
}
