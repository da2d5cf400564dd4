import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Program } from "../../front/llm-do.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { openStore } from "../../journal/stores/find-store.ts";
import { forgetMap, hasMapLog } from "../../map/map-log.ts";
import { type MappedRow, type MapRequest, mapRows, type Row } from "../../map/map-rows.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { commandLine } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { keepStatus, renderJsonLine, writeResult, writeStderr } from "../output.ts";
import { createGuardedHost } from "../process/guard-imports.ts";
import { guardCommand } from "../process/guarded-command.ts";
import { useProxies } from "../process/use-proxies.ts";
import { createWatchdog } from "../process/watchdog.ts";
import { openProgram } from "../programs/open-program.ts";
import { createPolicy } from "../run/create-policy.ts";
import { readRows } from "../run/read-rows.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { createRequest } from "../run/run-request.ts";
import { MapProgress } from "../terminal/map-progress.ts";

export interface MapFlags extends RunFlags {
  readonly inputs: string;
  readonly out?: string;
  readonly parallel: number;
  readonly usd?: number;
  readonly again?: boolean;
}

/** `llm-do map TARGET --inputs FILE`: runs a program once for each row. Returns the exit code. */
export function mapCommand(target: string, given: MapFlags): Promise<number> {
  const flags = { ...given, headless: true, journal: true };
  return guardCommand(flags, async ({ signals: { controller }, signal, note }) => {
    using watchdog = createWatchdog({ hasTerminal: false });
    checkFiles(flags);
    const approval = await createPolicy(flags, undefined);
    const request = createRequest(flags, signal);
    const { host, startRun } = createGuardedHost({ controller, watchdog });
    const guards = { signal, host, onCode: watchdog.start };
    const { program } = await openProgram([target], flags, { toRun: true, quiet: flags.quiet, terminal: undefined, ...guards });
    await useProxies(process.env, note);
    const name = await nameOf(program, flags);
    await startRun(undefined);
    const { usd, parallel } = flags;
    const whole = { ...request, program, approval, parallel, ...(usd === undefined ? {} : { usd }), ...(name ? { name } : {}) };
    return mapAndReport(whole, flags);
  });
}

function checkFiles({ inputs, out }: MapFlags): void {
  const kind = inputs === "-" ? undefined : statSync(inputs, { throwIfNoEntry: false });
  if (inputs !== "-" && !kind?.isFile()) throw new UsageError(`--inputs ${inputs}: there is no such file`);
  if (out !== undefined && inputs !== "-" && resolve(out) === resolve(inputs))
    throw new UsageError("--out and --inputs are the same file");
}

/** Undefined without `--out`: nothing says what a later start would go on with. */
async function nameOf({ root }: Program, { out, again }: MapFlags): Promise<string | undefined> {
  if (out === undefined) return undefined;
  const host = createNodeHost();
  const map = { store: openStore(host, undefined).path, program: root, name: resolve(out) };
  if (again) await forgetMap(host, map);
  else if ((statSync(out, { throwIfNoEntry: false })?.size ?? 0) > 0 && !(await hasMapLog(host, map)))
    throw new UsageError(`--out ${out}: this file is there, and no map of this program wrote it; name another one, or --again`);
  return map.name;
}

async function mapAndReport(request: Omit<MapRequest, "rows">, flags: MapFlags): Promise<number> {
  const { inputs, out, quiet } = flags;
  const progress = new MapProgress();
  const lines = new Map<number, number>();
  const rows = readNumbered(inputs, request.program, lines);
  if (inputs !== "-") void countRows(inputs, request.program, progress);
  const file = out === undefined ? undefined : openSync(out, "w");
  const endStatus = process.stderr.isTTY && !quiet ? keepStatus(() => progress.bar()) : () => undefined;
  try {
    for await (const row of mapRows({ ...request, rows })) {
      progress.note(row);
      const text = renderJsonLine({ v: 1, ...row });
      if (file === undefined) await writeResult(text);
      else writeSync(file, text);
      if (!quiet) writeStderr(describeTrouble(row, lines.get(row.row)));
      lines.delete(row.row);
    }
  } finally {
    endStatus();
    if (file !== undefined) closeSync(file);
    if (!quiet) writeStderr(`llm-do: ${progress.summary()}\n`);
  }
  if (progress.count("account") > 0 && !quiet)
    writeStderr(`llm-do: the $${request.usd} for all rows are used up; the same command with a larger --usd goes on\n`);
  const waiting = progress.count("suspended");
  if (waiting > 0 && !quiet) writeStderr(describeWaiting(waiting, request.program));
  return exitCodeOf(progress);
}

function describeWaiting(rows: number, { root }: Program): string {
  const wait = rows === 1 ? "1 row waits" : `${rows} rows wait`;
  const all = commandLine("approve", "last", relative(process.cwd(), root) || ".", "--all-runs");
  return `llm-do: ${wait} for answers: \`${commandLine("approve")}\` asks for those of the newest, \`${all}\` approves all; then start the map again\n`;
}

/** Notes the line of each row until its result is written. */
async function* readNumbered(inputs: string, program: Program, lines: Map<number, number>): AsyncGenerator<Row> {
  let row = 0;
  for await (const { line, input } of readRows(inputs, program)) {
    lines.set(++row, line);
    yield input;
  }
}

/** Yields an error for a row that cannot be read: it is reported where the rows are used. */
async function countRows(inputs: string, program: Program, progress: MapProgress): Promise<void> {
  let rows = 0;
  try {
    for await (const _ of readRows(inputs, program)) rows++;
    progress.total = rows;
  } catch {}
}

/** Empty for a row that ended. */
function describeTrouble({ row, runId, stopReason, error }: MappedRow, line: number | undefined): string {
  if (error === undefined) return "";
  const where = line === undefined || line === row ? `row ${row}` : `row ${row} (line ${line})`;
  const run = runId === null ? "" : `, run ${runId}`;
  return `llm-do: ${where}${run}: ${stopReason}: ${escapeText(error.message, { keepBackslashes: true })}\n`;
}

function exitCodeOf(progress: MapProgress): number {
  if (progress.count("account") > 0) return exitCodes.limit;
  if (progress.count("failed", "uncertain", "invalid") > 0) return exitCodes.failed;
  if (progress.count("suspended") > 0) return exitCodes.approvalNeeded;
  return progress.count("limit", "cut") > 0 ? exitCodes.limit : exitCodes.done;
}
