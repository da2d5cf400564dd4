import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "../../util/within.ts";
import { nameOwned, sweepFolders } from "../command/command-folder.ts";
import { statOf } from "../command/look.ts";
import type { Processes } from "../host.ts";
import { type Copy, enclosing, type Mount, orderMounts } from "./mount.ts";

/** Mounts of a command, with a copy of the machine's settings in the place of many small files. */
export interface SettingsView {
  readonly mounts: readonly Mount[];
  /** To be called when the command has ended. */
  release(): void;
}

const settings = "/etc";
const prefix = "settings_";

/** A private folder with copies of small files of `/etc`, and what mounts in it need to stand on. */
interface Held {
  readonly folder: string;
  /** The files and their versions; another one is another folder. */
  readonly version: string;
  users: number;
}

/** The newest. Older ones stay until the last command that sees them has ended. */
let current: Held | undefined;
/** All that exist. They are removed when this process ends; those of a process that was killed, by a later one. */
const held = new Set<Held>();
/** Folders of state in which this process has looked for them. */
const swept = new Map<string, Promise<void>>();

/** Makes the folder of copies. To be called before a view is described: what is there by then is hidden from the command. */
export function makeCopiesFolder(parent: string): void {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
  } catch {
    // The files are mounted.
  }
}

/**
 * Shows small files of `/etc` by one mount of a copy that the commands of this process share: a mount takes a quarter of a millisecond,
 * and there are dozens of such files. The copy is made anew when a file has changed. `parent`: a folder that the command does not see. Leaves the
 * mounts as they are where a scope or a hidden file lies in `/etc` or around it.
 */
export async function copySettings(
  mounts: readonly Mount[],
  { parent, processes }: { readonly parent: string; readonly processes: Processes },
): Promise<SettingsView> {
  const unchanged = { mounts, release: () => undefined };
  const inside = orderMounts(mounts).filter(({ path }) => isWithin(path, settings));
  const copies = inside.flatMap((mount) => copiesOf(mount) ?? []);
  const points = inside.filter((mount) => copiesOf(mount) === undefined);
  if (copies.length === 0 || enclosing(mounts)(settings) || !points.every(isOfSystem)) return unchanged;
  const sweeping = swept.get(parent) ?? sweepFolders(parent, prefix, processes);
  swept.set(parent, sweeping);
  await sweeping;
  const copy = take(copies, points, join(parent, nameOwned(prefix, processes)));
  if (copy === undefined) return unchanged;
  copy.users++;
  const shown: Mount = { kind: "read-only", path: settings, source: join(copy.folder, settings) };
  return {
    mounts: [...mounts.filter((mount) => copiesOf(mount) === undefined), shown],
    release: () => {
      copy.users--;
      removeUnused(copy);
    },
  };
}

function copiesOf(mount: Mount): readonly Copy[] | undefined {
  return mount.kind === "read-only" ? mount.copies : undefined;
}

function isOfSystem(mount: Mount): boolean {
  return mount.kind === "read-only" && mount.descriptor === undefined && mount.path !== settings;
}

/** Undefined if no copy can be made: the files are mounted then. */
function take(copies: readonly Copy[], points: readonly Mount[], place: string): Held | undefined {
  const version = [place, ...copies.map(({ path, version }) => `${path} ${version}`), ...points.map(({ path }) => path)].join(
    "\n",
  );
  if (current?.version === version && statOf(current.folder) !== undefined) return current;
  const former = current;
  try {
    const made = { folder: mkdtempSync(place), version, users: 0 };
    process.off("exit", removeAll).on("exit", removeAll);
    held.add(made);
    current = made;
    fill(made.folder, copies, points);
  } catch {
    current = undefined;
  }
  if (former) removeUnused(former);
  return current;
}

function fill(folder: string, copies: readonly Copy[], points: readonly Mount[]): void {
  for (const { path, mode } of copies) {
    const copy = join(folder, path);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(path, copy);
    chmodSync(copy, mode);
  }
  for (const { path } of points) {
    const point = join(folder, path);
    const isFolder = statOf(path)?.isDirectory() === true;
    mkdirSync(isFolder ? point : dirname(point), { recursive: true });
    if (!isFolder) writeFileSync(point, "");
  }
}

function removeUnused(copy: Held): void {
  if (copy === current || copy.users > 0) return;
  held.delete(copy);
  remove(copy);
}

function removeAll(): void {
  for (const copy of held) remove(copy);
}

function remove({ folder }: Held): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A later process removes it.
  }
}
