import { useStore } from "../journal/find-store.ts";
import { errorMessage } from "../util/error-message.ts";
import { addTakenSecrets } from "../util/redactor.ts";
import { UsageError } from "./exit-codes.ts";

/**
 * Opens the database that `--store` or `LLM_DO_STORE` names as the store of this process. The address, which can hold a password, and the key
 * are taken out of what code of a program sees of the process. Rejects with a `UsageError` that says what is wrong, without either.
 */
export async function useDatabase(url: string): Promise<void> {
  const { LLM_DO_STORE_KEY: key } = process.env;
  for (const name of ["LLM_DO_STORE", "LLM_DO_STORE_KEY"]) delete process.env[name];
  process.argv = process.argv.map((word) => word.replace(url, "postgres://…"));
  const { password = "" } = URL.parse(url) ?? {};
  const secrets = { LLM_DO_STORE: url, PGPASSWORD: decode(password), LLM_DO_STORE_KEY: key ?? "" };
  addTakenSecrets(Object.entries(secrets).flatMap(([name, value]) => (value === "" ? [] : [{ name, value }])));
  const { openPostgresStore } = await import("../postgres/index.ts");
  try {
    useStore(await openPostgresStore(url, key ? { key } : {}));
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
