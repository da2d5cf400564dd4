/** Writes the result; resolves when it is handed to the system. A reader that went away (`| head`) is no failure. */
export function writeResult(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === "EPIPE") resolve();
      else reject(error);
    });
  });
}

/** Progress, questions and diagnostics. */
export function writeStderr(text: string): void {
  process.stderr.write(text);
}
