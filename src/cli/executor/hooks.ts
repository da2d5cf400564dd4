import { createHmac } from "node:crypto";
import type { EndedRun, HookJob } from "../../postgres/run-queue.ts";

/** Addresses that are told of runs. */
export interface HookAddresses {
  readonly question?: string | undefined;
  readonly end?: string | undefined;
}

/** Returns the post about a run that ended or waits for answers; undefined if no address is told of that. */
export function toHookJob({ question, end }: HookAddresses, { id, program, queue, state }: EndedRun): HookJob | undefined {
  const event = state === "suspended" ? "question" : "end";
  const url = event === "question" ? question : end;
  return url === undefined ? undefined : { url, body: JSON.stringify({ v: 1, event, run: id, program, queue, state }) };
}

/** Posts a hook. Its signature is an HMAC-SHA-256 of time and body. Rejects unless the address accepts it. */
export async function postHook({ url, body }: HookJob, id: string, key: string): Promise<void> {
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", key).update(`${time}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "llm-do-id": id, "llm-do-signature": `t=${time},v1=${signature}` };
  const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the hook was answered with ${response.status}`);
}
