import { parentCallPath } from "../protocol/call.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Target } from "../toolsets/toolset.ts";
import type { Hold, Ticket, Tickets } from "../util/tickets.ts";
import type { GatedCall, GateRun, ToolsetBinding } from "./gate-types.ts";
import type { PendingCall } from "./pending-call.ts";

/**
 * Takes a call's place among the calls of the run. Synchronous, so that calls stand in the order in which they were requested.
 *
 * A target stands for everything below it. Among the calls of one caller those that only read run side by side. Calls of different
 * callers have no order: of them only those that change wait for one another, so that a command does not go on with a file that a
 * file tool has replaced meanwhile.
 */
export function takeTicket(tickets: Tickets, call: PendingCall, args: JsonValue): Ticket {
  const { callPath } = call.request.runtime;
  const caller = parentCallPath(callPath) ?? "";
  return tickets.take(targetsOf(call, args).flatMap((target) => holdsOf(target, caller)));
}

/** Takes the place of a call that may wait for a worker which is being created. Undefined for one that never does. */
export function takeForwardTicket(
  { run, binding }: { readonly run: Pick<GateRun, "order">; readonly binding: ToolsetBinding },
  { args, runtime }: GatedCall,
): Ticket | undefined {
  const targets = binding.forward?.targets(args, runtime.scopes) ?? [];
  if (targets.length === 0) return undefined;
  const caller = parentCallPath(runtime.callPath) ?? "";
  return run.order.take(targets.flatMap((target) => holdsOf(target, caller)));
}

/** `args` are as the caller gave them; those that are no object are refused later. */
function targetsOf({ binding, tool, request }: PendingCall, args: JsonValue): readonly Target[] {
  const { toolset, config } = binding;
  if (!toolset.targets || !isRecord(args)) return [];
  return toolset.targets({ tool: tool.name, args: args as JsonObject, config }, { scopes: request.runtime.scopes });
}

function holdsOf(target: Target, caller: string): readonly Hold[] {
  const changes = typeof target === "string";
  const names = (changes ? target : target.read).split("/").filter((name) => name !== "");
  const path = names.join("/");
  const above = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
  const mode = changes ? "change" : "read";
  const holdsFor = (prefix: string): readonly Hold[] => [
    ...above.map((folder): Hold => ({ key: `${prefix}${folder}`, mode: `${mode}-below` })),
    { key: `${prefix}${path}`, mode },
  ];
  return [...holdsFor(`${caller}\n`), ...(changes ? holdsFor("") : [])];
}
