import type { DoorRuns } from "../../doors/running-call.ts";
import type { RunRequest } from "../../front/llm-do.ts";
import { StrayOwners } from "../process/guard-process.ts";
import { guardCommand } from "../process/guarded-command.ts";
import { type OwnStreams, serveOnOwnOutput } from "../process/own-output.ts";
import { openTelemetry } from "../process/telemetry.ts";
import { useProxies } from "../process/use-proxies.ts";
import { createPolicy } from "../run/create-policy.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { createRequest } from "../run/run-request.ts";

/** What a door serves its runs with. */
export interface DoorParts extends OwnStreams, Pick<DoorRuns, "policy" | "trace" | "within"> {
  readonly flags: RunFlags;
  /** For every run: limits, prices, providers. */
  readonly request: Omit<RunRequest, "approval" | "signal" | "attachments">;
  readonly signal: AbortSignal;
  readonly note: (message: string) => void;
}

/** Serves a protocol on stdin and stdout until `serve` resolves. `asks`: the client can be asked. Returns the exit code. */
export function serveDoor(given: RunFlags, asks: boolean, serve: (parts: DoorParts) => Promise<void>): Promise<number> {
  const flags = { ...given, headless: true, verbose: 0, journal: given.journal ?? true };
  const owners = new StrayOwners();
  return serveOnOwnOutput((streams) =>
    guardCommand(
      flags,
      async ({ signal, note }) => {
        const policy = await createPolicy(flags, asks ? "client" : undefined);
        const { signal: _, attachments: __, ...request } = createRequest(flags, signal);
        await using telemetry = await openTelemetry(flags);
        await useProxies(process.env, note);
        await serve({ ...streams, flags, request, policy, trace: telemetry.begin, within: owners.within, signal, note });
        if (signal.aborted) throw signal.reason;
        return 0;
      },
      owners,
    ),
  );
}
