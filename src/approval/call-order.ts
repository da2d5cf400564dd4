import { parentCallPath } from "../protocol/call.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Target } from "../toolsets/toolset.ts";
import { freeTicket, type Hold, type Ticket, type Tickets } from "../util/async/tickets.ts";
import type { StageReport } from "./asking/question-queue.ts";
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
  const targets = targetsOf(call, args);
  if (targets.length === 0) return freeTicket;
  const caller = parentCallPath(call.request.runtime.callPath) ?? "";
  return tickets.take(targets.flatMap((target) => holdsOf(target, caller)));
}

/** A call that holds tickets. */
export interface WaitingCall extends PendingCall {
  /** In the order in which they were taken. */
  readonly tickets: Ticket[];
  readonly stage: StageReport;
}

/** Waits for the turn of a call's ticket. Undefined if nothing is before it. */
export function turnOf(
  { activity }: Pick<GateRun, "activity">,
  { tickets, stage, request }: WaitingCall,
  ticket: Ticket,
): Promise<void> | undefined {
  const { callPath, signal } = request.runtime;
  tickets.push(ticket);
  signal.throwIfAborted();
  if (!ticket.waits) return undefined;
  stage("waiting");
  return activity.waitBehind(callPath, ticket.turn(signal)).then(() => stage("on the way"));
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
