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
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const leave = () => signal.removeEventListener("abort", abort);
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
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}
