import { hostsUnsupported } from "../language/unsupported-keys.ts";
import type { WorkerFile } from "../language/worker-file.ts";
import type { CommandPolicy } from "../program/program.ts";
import type { Compilation } from "./compilation.ts";

/** What `sandbox` says of programs that a worker's tools start; the manifest's, where a worker has no `sandbox`. */
export function linkCommands({ manifest, diagnostics }: Compilation, { sandbox }: WorkerFile): CommandPolicy {
  const { network_enabled: network, required } = (sandbox ?? manifest?.sandbox)?.value ?? {};
  if (network && typeof network.value !== "boolean") {
    const message = `\`sandbox.network_enabled\`: ${hostsUnsupported}`;
    diagnostics.report("key-unsupported", { message, span: network.span });
  }
  return { networkEnabled: network?.value === true, isolationRequired: required?.value ?? false };
}
