import type { CallPath } from "../../protocol/call.ts";
import type { Fact } from "../../protocol/fact.ts";
import type { Artifact, AssistantMessage, FilePart } from "../../protocol/message.ts";

/** Longer names are cut: some file systems take no more than 255 bytes, and a number can come behind. */
const longestName = 120;

/** The files that providers made in a run, under names that no two of them share. */
export class Artifacts {
  readonly #byName = new Map<string, Artifact>();

  /** Keeps a file under a name that `nameFor` gave, or a record has. What a record has may be a path: it becomes one name again. */
  add(callPath: CallPath, file: FilePart, recorded: string): void {
    const name = plainName(recorded);
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

/** The files that a record holds, with their content. */
export function recordedArtifacts(facts: readonly Fact[]): readonly Artifact[] {
  const files = new Map<string, FilePart>();
  const made: Artifact[] = [];
  for (const fact of facts) {
    if (fact.type === "result" && fact.kind === "model" && fact.outcome.type === "value") {
      const { message } = fact.outcome.value as unknown as { readonly message: AssistantMessage };
      for (const part of message.parts) if (part.type === "file") files.set(part.sha256, part);
    }
    const file = fact.type === "artifact" ? files.get(fact.sha256) : undefined;
    if (file && fact.type === "artifact") made.push({ ...file, name: plainName(fact.name), callPath: fact.callPath });
  }
  return made;
}

/** One name of a file, on every system: no folder, nothing hidden, nothing that a shell or a terminal reads into. */
function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^[. ]+|[. ]+$/g, "");
  const dot = plain.lastIndexOf(".");
  const suffix = dot > 0 ? plain.slice(dot).slice(0, 20) : "";
  const stem = plain.slice(0, dot > 0 ? dot : undefined).slice(0, longestName) || "file";
  return `${/^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(stem) ? "_" : ""}${stem}${suffix}`;
}
