import type { ReachedLimit } from "../../effects/effects.ts";
import type { PriceOf } from "../../models/prices.ts";
import type { CallConfig, CallFrame } from "../config.ts";
import { addUserText } from "../conversation.ts";
import { describeLimit } from "../run-error.ts";
import { planLastTurn } from "./request-budget.ts";

/** Sets aside what a last turn would take now, in place of what was set aside for it before. */
export function reserveLastTurn(call: CallConfig, frame: CallFrame, priceOf: PriceOf | undefined): void {
  frame.releaseLastTurn();
  const amount = frame.lastTurn ? undefined : planLastTurn(call, frame, priceOf);
  if (amount) frame.releaseLastTurn = call.budget.setAside(amount);
}

/** Makes the next turn the last one, which may take what was set aside for it. The first limit that is met decides. */
export function announceLastTurn(call: CallConfig, frame: CallFrame, reached: ReachedLimit): void {
  if (frame.lastTurn) return;
  frame.lastTurn = reached;
  frame.releaseLastTurn();
  if (frame.turn === 0) return;
  const text = describeLimit(reached);
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)} is reached.`;
  addUserText(call, frame, `${sentence} Give your final answer now, with what you have; no further tool call will run.`);
}
