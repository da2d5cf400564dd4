import { console as inspected, type Runtime, Session } from "node:inspector";

/** One of our functions, as `file:function`. */
export type Stage = string;

export interface StageWatch {
  /** Notes which of our functions wait for this point. The first mark of a name counts. */
  readonly mark: (name: string) => void;
  /** The stages of each mark, from the outermost in. A function stands there as often as it was entered. */
  readonly stages: ReadonlyMap<string, readonly Stage[]>;
  readonly stop: () => void;
}

/**
 * Watches the way that a run takes to a point. The inspector keeps the stack of every `await`, and so shows also functions that pass a
 * promise on without awaiting it, which `Error.stack` leaves out.
 */
export function watchStages(): StageWatch {
  const stages = new Map<string, readonly Stage[]>();
  const session = new Session();
  session.connect();
  session.post("Runtime.enable");
  session.post("Debugger.enable");
  session.post("Runtime.setMaxCallStackSizeToCapture", { size: 200 });
  session.post("Debugger.setAsyncCallStackDepth", { maxDepth: 1000 });
  session.on("Runtime.consoleAPICalled", ({ params: { type, args, stackTrace } }) => {
    const name = String(args[0]?.value);
    if (type === "debug" && stackTrace && !stages.has(name)) stages.set(name, stagesOf(session, stackTrace).reverse());
  });
  return { mark: (name) => inspected.debug(name), stages, stop: () => session.disconnect() };
}

function stagesOf(session: Session, trace: Runtime.StackTrace): Stage[] {
  const found: Stage[] = [];
  for (let stack: Runtime.StackTrace | undefined = trace; stack; stack = parentOf(session, stack)) {
    for (const { url, functionName } of stack.callFrames) {
      const file = /\/src\/(.*)\.ts/.exec(url)?.[1];
      const stage = `${file}:${functionName || "(closure)"}`;
      // The stack of an `await` begins with the function that awaits, which the one before ended with.
      if (file !== undefined && found.at(-1) !== stage) found.push(stage);
    }
  }
  return found;
}

function parentOf(session: Session, { parent, parentId }: Runtime.StackTrace): Runtime.StackTrace | undefined {
  let found = parent;
  if (!found && parentId)
    session.post("Debugger.getStackTrace", { stackTraceId: parentId }, (_, answer) => {
      found = answer?.stackTrace;
    });
  return found;
}
