/** One action of a process: started a program in its place, or opened or changed a file. */
export type Traced =
  | { readonly type: "mark"; readonly index: number }
  | { readonly type: "exec"; readonly by: string; readonly file: string; readonly argv: readonly string[] }
  /** `path` as far as it is known: absolute for what was opened, as it was written for the rest. */
  | { readonly type: "change"; readonly by: string; readonly call: string; readonly path: string; readonly refused: boolean };

/** The calls of the kernel that start programs or change files. */
export const tracedCalls = "execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,mknod,mknodat,chown,lchown,fchownat,utimensat,setxattr"; // biome-ignore format: one list

export const markFolder = "/llm-do-mark/";

/** Reads the lines of `strace -f -y -Y`: each begins with a process and its program's name. */
export class TraceReader {
  readonly #unfinished = new Map<string, string>();

  read(line: string): Traced | undefined {
    const head = /^(\d+)<([^>]*)>\s+(.*)$/s.exec(line);
    if (head === null) return undefined;
    const [, pid = "", by = "", rest = ""] = head;
    const whole = this.#whole(pid, rest);
    const call = whole === undefined ? undefined : readCall(by, whole);
    // Its calls build the wall.
    return call?.type === "change" && by === "bwrap" ? undefined : call;
  }

  /** A call can be told in two lines, with those of other processes between them. */
  #whole(pid: string, text: string): string | undefined {
    if (text.endsWith("<unfinished ...>")) {
      this.#unfinished.set(pid, text.slice(0, -"<unfinished ...>".length));
      return undefined;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text);
    if (resumed === null) return text;
    const before = this.#unfinished.get(pid) ?? "";
    this.#unfinished.delete(pid);
    return before + (resumed[1] ?? "");
  }
}

const strings = /"((?:[^"\\]|\\.)*)"/g;

function readCall(by: string, text: string): Traced | undefined {
  const call = /^\w+/.exec(text)?.[0] ?? "";
  const result = text.slice(text.lastIndexOf(") ") + 1).trim();
  const words = [...text.matchAll(strings)].map(([, word = ""]) => unescaped(word));
  const [first = ""] = words;
  if (first.startsWith(markFolder)) return { type: "mark", index: Number(first.slice(markFolder.length)) };
  const isDone = !result.startsWith("= -1");
  if (call.startsWith("exec")) return isDone ? { type: "exec", by, file: first, argv: words.slice(1) } : undefined;
  // A call that the wall refused was tried all the same.
  const isRefused = /EROFS|EACCES|EPERM/.test(result);
  if ((!isDone && !isRefused) || (call.startsWith("open") && !/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(text))) return undefined;
  const opened = /^= \d+<(.*)>$/s.exec(result)?.[1];
  return { type: "change", by, call, refused: isRefused, path: opened === undefined ? words.join(" → ") : unescaped(opened) };
}

const letters: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", v: "\v", f: "\f" };

function unescaped(text: string): string {
  const bytes = text.replace(/\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))/gs, (_, hex?: string, octal?: string, one?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return letters[one ?? ""] ?? one ?? "";
  });
  return Buffer.from(bytes, "latin1").toString("utf8");
}
