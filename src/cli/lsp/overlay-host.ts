import { basename, dirname } from "node:path";
import type { Host } from "../../host/host.ts";

/** A view of a host in which documents of an editor have the text that is being typed, by absolute path. */
export function createOverlayHost(host: Host, workingDirectory: string, texts: ReadonlyMap<string, string>): Host {
  const { files } = host;
  return {
    ...host,
    workingDirectory,
    files: {
      ...files,
      readText: async (path, options) => texts.get(path) ?? files.readText(path, options),
      kind: async (path) => (texts.has(path) ? "file" : files.kind(path)),
      names: async (path) => {
        const open = [...texts.keys()].filter((text) => dirname(text) === path).map((text) => basename(text));
        return [...new Set([...(await files.names(path)), ...open])].sort();
      },
      realPath: async (path) => {
        try {
          return await files.realPath(path);
        } catch (thrown) {
          if (texts.has(path)) return path;
          throw thrown;
        }
      },
    },
  };
}
