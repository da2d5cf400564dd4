import type { RootDirectory } from "../files/directory.ts";
import { SystemError } from "../files/system-error.ts";

/** A root that is not there: it is taken for empty, nothing is found in it, and nothing can be made in it. */
export function createEmptyRoot(path: string): RootDirectory {
  const fail = (code: string) => () => Promise.reject(new SystemError(code));
  const absent = fail("ENOENT");
  const readOnly = fail("EROFS");
  return {
    realPath: path,
    identity: `empty:${path}`,
    isInPlace: async () => true,
    look: async () => undefined,
    entries: async () => [],
    openDirectory: absent,
    openFile: absent,
    openAppend: readOnly,
    removeDirectory: absent,
    facts: absent,
    setMode: readOnly,
    setOwner: readOnly,
    readLink: absent,
    rename: absent,
    removeFile: absent,
    openHandle: absent,
    makeDirectory: readOnly,
    createFile: readOnly,
    createLink: readOnly,
    sync: async () => {},
    unlock: async () => {},
    close: async () => {},
  };
}
