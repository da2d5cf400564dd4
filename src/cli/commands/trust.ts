import { basename, dirname, resolve } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import type { TrustedFolder, TrustStore } from "../../host/own-files/trust-store.ts";
import { show } from "../../ui/explain/phrases.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";
import { UsageError } from "../exit-codes.ts";
import { renderJsonLine, writeResult, writeStderr } from "../output.ts";
import { openTrustStore } from "../programs/open-trust-store.ts";

export interface TrustFlags {
  readonly json?: boolean;
}

/** `llm-do trust list`: the folders that are trusted for good. */
export async function listTrustCommand({ json }: TrustFlags): Promise<number> {
  const { files } = createNodeHost();
  const trusted = await openTrustStore().list();
  const kinds = await Promise.all(trusted.map(({ folder }) => files.kind(folder)));
  const rows = trusted.map((one, index) => ({ ...one, exists: kinds[index] === "directory" }));
  if (json)
    await writeResult(
      `${JSON.stringify(
        rows.map((row) => ({ ...row, reach: row.reach ?? null })),
        undefined,
        2,
      )}\n`,
    );
  else if (rows.length === 0) writeStderr("llm-do: no folder is trusted\n");
  else await writeResult(rows.map(renderRow).join(""));
  return 0;
}

function renderRow({ folder, trustedAt, reach, exists }: TrustedFolder & { readonly exists: boolean }): string {
  const facts = [
    `since ${trustedAt}`,
    reach ? `workers: ${Object.keys(reach.workers).join(", ") || "none"}` : "asks again: what it could do was not recorded",
    ...(reach && reach.code.length > 0 ? [`code: ${reach.code.join(", ")}`] : []),
    ...(exists ? [] : ["the folder is gone"]),
  ];
  return `${show(folder)}\n${facts.map((fact) => `  ${show(fact)}\n`).join("")}`;
}

/** `llm-do trust revoke [FOLDER]`: from now on it is asked for again. A folder that is not trusted is a mistake. */
export async function revokeTrustCommand(target: string, { json }: TrustFlags): Promise<number> {
  const store = openTrustStore();
  const { files, workingDirectory } = createNodeHost();
  const path = resolve(workingDirectory, target);
  const folder = await files.realPath(path).catch(() => path);
  if (!(await store.revoke(folder))) throw new UsageError(`${show(folder)} is not trusted; ${await suggest(store, folder)}`);
  if (json) await writeResult(renderJsonLine({ revoked: folder }));
  else writeStderr(`llm-do: ${show(folder)} is no longer trusted\n`);
  return 0;
}

async function suggest(store: TrustStore, wanted: string): Promise<string> {
  const known = (await store.list()).map(({ folder }) => folder);
  const near = nearFolders(wanted, known);
  if (near.length > 0) return `did you mean ${near.map(show).join(" or ")}?`;
  return known.length > 0 ? "llm-do trust list shows the folders that are" : "no folder is";
}

/** Folders above or below it, or of a name like its own. */
function nearFolders(wanted: string, known: readonly string[]): string[] {
  const related = known.filter((folder) => folder.startsWith(`${wanted}/`) || wanted.startsWith(`${folder}/`));
  const names = nearestNames(
    basename(wanted),
    known.map((folder) => basename(folder)),
  );
  const alike = known.filter(
    (folder) => names.includes(basename(folder)) || (dirname(folder) === dirname(wanted) && related.length === 0),
  );
  return [...new Set([...related, ...alike])].slice(0, 3);
}
