import { createNodeHost } from "../../host/node-host.ts";
import { createTrustStore, type TrustStore } from "../../host/own-files/trust-store.ts";
import { writeStderr } from "../output.ts";

const reported = new Set<string>();

/** Opens the user's list of trusted folders. A list that cannot be read is reported once on stderr. */
export function openTrustStore(): TrustStore {
  return createTrustStore(createNodeHost(), (message) => {
    if (!reported.has(message)) writeStderr(`llm-do: warning: ${message}\n`);
    reported.add(message);
  });
}
