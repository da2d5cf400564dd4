import { parentPort, workerData } from "node:worker_threads";
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import type { ProgramStart, ProgramTurn } from "./program-engine.ts";

/*
 * The thread of `program-engine.ts`: an interpreter in WebAssembly that executes one program. The program gets texts in and out by one
 * function, which `prelude` keeps to itself, and nothing else of this thread.
 */

const { source, input, most } = workerData as ProgramStart;

/** The file name of the program in stacks. */
const file = "program.js";
const stackBytes = 256 * 1024;
/** Short jobs never reach the interrupt: the time is looked at between so many. */
const jobsAtOnce = 100;

/** Defines what a program can use, and returns the functions that start it and that settle its calls. Executed in the interpreter. */
const prelude = `(send) => {
  "use strict";
  const { parse, stringify } = JSON;
  const open = new Map();
  delete Math.random;
  let number = 0;
  const ask = (wanted) => {
    const failure = new Error();
    return new Promise((resolve, reject) => {
      const id = number++;
      open.set(id, { resolve, reject, failure });
      send("call", stringify(wanted));
    });
  };
  const print = (...values) => {
    send("print", values.map((one) => typeof one === "string" ? one : stringify(one) ?? String(one)).join(" "));
  };
  const map = async (items, work, { parallel = 8 } = {}) => {
    const list = [...items];
    const results = [];
    let next = 0;
    const workInTurn = async () => {
      for (let at = next++; at < list.length; at = next++) results[at] = await work(list[at], at);
    };
    await Promise.all(Array.from({ length: Math.max(1, Math.min(parallel, list.length)) }, workInTurn));
    return results;
  };
  class Unsure {}
  Object.assign(globalThis, {
    unsure: (reason, hint) => Object.assign(new Unsure(), { reason: String(reason), ...(hint === undefined ? {} : { hint: String(hint) }) }),
    call: (name, input = {}, options) => ask({ name, input, ...(options === undefined ? {} : { options }) }),
    budget: () => ask({}),
    map,
    phase: (title) => print("## " + title),
    print,
  });
  const describe = (thrown) => {
    const { name, message, stack } = Object(thrown);
    const isError = thrown instanceof Error;
    return { message: isError ? name + ": " + message : String(thrown), stack: isError ? String(stack) : "" };
  };
  const end = (value) => send(value instanceof Unsure ? "unsure" : "end", stringify(value === undefined ? {} : { value }));
  const fail = (thrown) => send("failed", stringify(describe(thrown)));
  return {
    fail,
    start: (program, input) => program(parse(input)).then(end).catch(fail),
    settle: (answers) => {
      for (const { id, value, error } of parse(answers)) {
        const { resolve, reject, failure } = open.get(id);
        open.delete(id);
        if (error) reject(Object.assign(failure, { name: "CallError", message: error.error, type: error.type, hint: error.hint }));
        else resolve(value);
      }
    },
  };
}`;

/** The program's words since the last turn, as it said them: only the receiver parses texts, which can take more memory than a thread has. */
let calls: string[] = [];
let printed: string[] = [];
let ended: ProgramTurn["end"];
let callsMade = 0;
let characters = 0;
/** The end of the present turn, on the clock of `performance`. */
let deadline = 0;
let timeLeft = most.milliseconds;
/** Why the interpreter was interrupted. Nothing that the program says after it counts. */
let stopped: string | undefined;

/** The one way of a text out of the interpreter. A program that changed what `prelude` uses can say anything. */
function hear(context: QuickJSContext, kind: QuickJSHandle, said: QuickJSHandle): void {
  if (stopped !== undefined) return;
  const text = context.getString(said);
  characters += text.length;
  const type = context.getString(kind);
  if (characters > most.characters) stopped = `it said more than ${most.characters} characters in all`;
  else if (type === "print") printed.push(text);
  else if (type === "end" || type === "unsure" || type === "failed") ended ??= { type, text };
  else if (callsMade++ < most.calls) calls.push(text);
  else stopped = `it made more than ${most.calls} calls`;
}

/** Called by the interpreter every ten thousand instructions or so. */
function isOver(): boolean {
  if (performance.now() > deadline) stopped ??= `it computed for ${most.milliseconds / 1000} seconds`;
  return stopped !== undefined;
}

interface Interpreter {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly settle: QuickJSHandle;
  readonly fail: QuickJSHandle;
}

async function start(): Promise<Interpreter> {
  const { newQuickJSWASMModuleFromVariant } = await import("quickjs-emscripten-core");
  const engine = await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"));
  const runtime = engine.newRuntime();
  runtime.setMemoryLimit(most.memoryBytes);
  runtime.setMaxStackSize(stackBytes);
  const context = runtime.newContext({ intrinsics: { ...powers } });
  const send = context.newFunction("send", (kind, text) => hear(context, kind, text));
  const evaluated = context.unwrapResult(context.evalCode(prelude, "llm-do"));
  const made = context.unwrapResult(context.callFunction(evaluated, context.undefined, send));
  const [settle, fail] = [context.getProp(made, "settle"), context.getProp(made, "fail")];
  parentPort?.postMessage("started");
  begin();
  runtime.setInterruptHandler(isOver);
  const interpreter = { runtime, context, settle, fail };
  // In one line with the beginning of the program, so that its lines keep their numbers.
  const program = context.evalCode(`(async (input) => {"use strict";${source}\n})`, file);
  if (program.error) note(interpreter, program.error);
  else
    check(
      interpreter,
      context.callFunction(context.getProp(made, "start"), context.undefined, program.value, context.newString(input)),
    );
  return interpreter;
}

/** No `Date`: a program that is entered again has to do the same again. */
const powers = {
  ...{ BaseObjects: true, Eval: true, StringNormalize: true, RegExp: true, RegExpCompiler: true, JSON: true, Proxy: true },
  ...{ MapSet: true, TypedArrays: true, Promise: true, BigInt: true, Date: false },
};

function begin(): void {
  deadline = performance.now() + timeLeft;
}

function check(interpreter: Interpreter, { error }: { readonly error?: QuickJSHandle | undefined }): void {
  if (error) note(interpreter, error);
}

/** Notes an error that the program did not catch. The interpreter has no memory left for some. */
function note({ context, fail }: Interpreter, error: QuickJSHandle): void {
  if (context.callFunction(fail, context.undefined, error).error) stopped ??= "out of memory";
}

/** Executes all that can go on. */
function goOn(interpreter: Interpreter): void {
  while (!ended && interpreter.runtime.hasPendingJob()) {
    check(interpreter, interpreter.runtime.executePendingJobs(jobsAtOnce));
    if (isOver()) break;
  }
}

function endTurn(): void {
  timeLeft = Math.max(0, deadline - performance.now());
  const turn: ProgramTurn = stopped === undefined ? { calls, printed } : { calls: [], printed };
  const end = stopped === undefined ? ended : { type: "stopped" as const, text: stopped };
  parentPort?.postMessage(end ? { ...turn, end } : turn);
  calls = [];
  printed = [];
}

const interpreter = await start();
goOn(interpreter);
endTurn();
parentPort?.on("message", (answers: string) => {
  const { context, settle } = interpreter;
  begin();
  check(interpreter, context.callFunction(settle, context.undefined, context.newString(answers)));
  goOn(interpreter);
  endTurn();
});
