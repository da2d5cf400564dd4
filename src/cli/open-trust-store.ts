import { createNodeHost } from "../host/node-host.ts";
import { createTrustStore, type TrustStore } from "../host/trust-store.ts";
import { writeStderr } from "./output.ts";

const told = new Set<string>();

/** The user's trusted folders. A store that cannot be read is told of once. */
export function openTrustStore(): TrustStore {
  return createTrustStore(createNodeHost(), (message) => {
    if (!told.has(message)) writeStderr(`llm-do: warning: ${message}\n`);
    told.add(message);
  });
}
