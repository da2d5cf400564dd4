/** Writes the result; resolves when it is handed to the system. A reader that went away (`| head`) is no failure. */
export function writeResult(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === "EPIPE") resolve();
      else reject(error);
    });
  });
}

let held: string[] | undefined;

/** Progress and diagnostics. While a question is open they wait, so that nothing is written into its answer. */
export function writeStderr(text: string): void {
  if (held) held.push(text);
  else process.stderr.write(text);
}

/** Holds back what `writeStderr` gets until the work is done. */
export async function holdStderr<T>(work: () => Promise<T>): Promise<T> {
  if (held) return work();
  const waiting: string[] = [];
  held = waiting;
  try {
    return await work();
  } finally {
    held = undefined;
    for (const text of waiting) process.stderr.write(text);
  }
}

/** Ends the process, whatever a program's code left open, when all that was written has been handed to the system. */
export async function endProcess(exitCode: number): Promise<void> {
  process.exitCode = exitCode;
  await Promise.all([process.stdout, process.stderr].map(drain));
  process.exit(exitCode);
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve();
    else stream.write("", () => resolve());
  });
}
