import type { Host } from "../host/host.ts";
import { type Case, parseCase } from "./case-file.ts";

/** Reads a case file of a worker, in its order. Rejects with a `CaseLineError` at its first broken line. */
export async function readCaseFile(host: Pick<Host, "files">, path: string, worker?: string): Promise<readonly Case[]> {
  const text = await host.files.readText(path);
  const options = worker === undefined ? {} : { worker };
  return text.split("\n").flatMap((line, index) => parseCase(line, index + 1, options) ?? []);
}
