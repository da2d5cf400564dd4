/** Resolves in the next turn of the event loop: all that only waits for promises has gone on by then. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
