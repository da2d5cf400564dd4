/** `abortable` for what need not be a promise: returns it as it is, or throws the signal's reason. */
export function orAborted<T>(value: T | PromiseLike<T>, signal: AbortSignal): T | Promise<T> {
  if (isPromiseLike(value)) return abortable(value, signal);
  signal.throwIfAborted();
  return value;
}

/** Calls a function with a value: at once where the value is no promise. */
export function andThen<T, U>(value: T | Promise<T>, fn: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(fn) : fn(value);
}

export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** Settles as the promise does, or rejects with the signal's reason as soon as it aborts. The promise itself goes on. */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => reject(signal.reason));
    promise.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(signal.aborted ? signal.reason : error);
      },
    );
  });
}

/** Aborts a controller with a signal, for its reason. Returns what ends that. `AbortSignal.any` takes several times as long, and as much memory. */
export function follow(signal: AbortSignal, controller: AbortController): () => void {
  return onAbort(signal, () => controller.abort(signal.reason));
}

interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Callbacks of signals that have not aborted. */
const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back once, when a signal aborts or where it has. All callbacks of a signal share one listener: Node compares each new listener
 * with all others. Callbacks must not throw. Returns what ends the wait.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const one = waiting.get(signal) ?? listenTo(signal);
  one.callbacks.add(callback);
  return () => {
    if (!one.callbacks.delete(callback) || one.callbacks.size > 0 || signal.aborted) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", one.listener);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const listener = () => {
    waiting.delete(signal);
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", listener, { once: true });
  const one = { callbacks, listener };
  waiting.set(signal, one);
  return one;
}

/** Returns a signal that aborts when one of these does; undefined for none. */
export function anySignal(...given: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const signals = given.filter((signal) => signal !== undefined);
  return signals.length > 1 ? AbortSignal.any(signals) : signals[0];
}
