import { closeSync, openSync } from "node:fs";
import { ReadStream } from "node:tty";

/**
 * Opens the terminal that controls this process for reading. A caller that hands the terminal on has to destroy the stream: one that is
 * paused reads once more, and would take a line from the other program.
 */
export function openTerminalInput(): ReadStream & { readonly descriptor: number } {
  const descriptor = openSync("/dev/tty", "r");
  const stream = Object.assign(new ReadStream(descriptor), { descriptor });
  stream.once("close", () => closeOwn(descriptor));
  return stream;
}

/** The stream reads by a descriptor of its own, and closes that one; where it could not open one, it has closed this one. */
function closeOwn(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // It is closed.
  }
}
