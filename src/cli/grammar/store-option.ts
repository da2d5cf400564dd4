import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";

/** The commands that begin runs or look at some. */
const users = new Set(
  "run chat map resume approvals approve deny runs view replay fork undo calls compare stabilise soften drift keep executor submit cancel".split(
    " ",
  ),
);

/** `--store` for a command that takes runs: it stands for `LLM_DO_STORE`, by which the store is found and hidden. */
export function addStoreOption(command: Command): void {
  const isUser = users.has(command.name()) || users.has(command.parent?.name() ?? "");
  if (!isUser || command.commands.length > 0) return;
  command.option(
    "--store <place>",
    "the records: a folder, or a database (postgres://…), in the place of your own (default: LLM_DO_STORE)",
  );
  command.hook("preAction", async () => {
    const { store } = command.opts<{ readonly store?: string }>();
    const named = store ?? (process.env["LLM_DO_STORE"] || (await storeOfConfig()));
    if (named === undefined) return;
    if (isAddress(named)) await (await import("../records/use-database.ts")).useDatabase(named, command.name() === "executor");
    else process.env["LLM_DO_STORE"] = resolve(named);
  });
}

async function storeOfConfig(): Promise<string | undefined> {
  const { readUserConfig } = await import("../programs/user-config.ts");
  const { store } = await readUserConfig();
  return store && (isAddress(store.value) ? store.value : resolve(homedir(), store.value));
}

/** Repeated from `find-store.ts`, which `--help` does not load. */
export function isAddress(place: string): boolean {
  return /^postgres(?:ql)?:/i.test(place);
}
