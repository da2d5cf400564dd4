import type { Host } from "../host.ts";
import { type CredentialFile, openCredentialFile } from "./credential-file.ts";

/** A key that `llm-do keys` keeps. */
export interface StoredKey {
  readonly key: string;
  /** ISO 8601. */
  readonly setAt: string;
}

/** The user's keys, by the name of their provider. */
export function openKeyFile(host: Pick<Host, "files" | "stateDirectory">): CredentialFile<StoredKey> {
  return openCredentialFile(host, {
    name: "keys",
    parse: ({ key, setAt }) => (typeof key === "string" && typeof setAt === "string" ? { key, setAt } : undefined),
  });
}
