import type { CallPath } from "../protocol/call.ts";
import type { Artifact, FilePart } from "../protocol/message.ts";

/** Longer names are cut: some file systems take no more than 255 bytes, and a number can come behind. */
const longestName = 120;

/** The files that providers made in a run, under names that no two of them share. */
export class Artifacts {
  readonly #byName = new Map<string, Artifact>();

  /** Keeps a file under a name that `nameFor` gave. */
  add(callPath: CallPath, file: FilePart, name: string): void {
    this.#byName.set(name.toLowerCase(), { ...file, name, callPath });
  }

  nameFor(file: FilePart): string {
    return this.#freeName(plainName(file.name));
  }

  list(): readonly Artifact[] {
    return [...this.#byName.values()];
  }

  #freeName(name: string): string {
    const dot = name.lastIndexOf(".");
    const [stem, suffix] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    let free = name;
    for (let n = 2; this.#byName.has(free.toLowerCase()); n++) free = `${stem}-${n}${suffix}`;
    return free;
  }
}

/** One name of a file, on every system: no folder, nothing hidden, nothing that a shell or a terminal reads into. */
function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^[. ]+|[. ]+$/g, "");
  const dot = plain.lastIndexOf(".");
  const suffix = dot > 0 ? plain.slice(dot).slice(0, 20) : "";
  const stem = plain.slice(0, dot > 0 ? dot : undefined).slice(0, longestName) || "file";
  return `${/^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(stem) ? "_" : ""}${stem}${suffix}`;
}
