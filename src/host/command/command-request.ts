import type { CommandRequest } from "../commands.ts";
import { assertEnvironment } from "./command-environment.ts";

/** Throws a `TypeError` for requests that the system cannot do, or would read in another way. */
export function assertRequest(request: CommandRequest): void {
  const { command } = request;
  const texts = command.type === "argv" ? command.argv : [command.script];
  if (texts.length === 0 || texts[0] === "") throw new TypeError("there is no program to run");
  for (const text of texts) {
    if (typeof text !== "string" || text.includes("\0")) throw new TypeError("a command cannot hold NUL");
    if (!text.isWellFormed()) throw new TypeError("a command cannot hold broken Unicode");
  }
  assertEnvironment(request.environment ?? {});
  if (!(request.timeoutMilliseconds > 0 && request.timeoutMilliseconds < 2 ** 31))
    throw new TypeError("the time-out is unusable");
  if (!(request.maxOutputBytes >= 0)) throw new TypeError("the output limit is unusable");
}

/** Returns the argv of a command; a script runs in bash, without start-up files. */
export function toArgv(command: CommandRequest["command"], shell: string): readonly string[] {
  return command.type === "argv" ? command.argv : [shell, "--noprofile", "--norc", "-c", command.script];
}
