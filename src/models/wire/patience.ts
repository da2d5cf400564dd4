/**
 * How long the server of one call may be silent, in milliseconds. By the call's signal, which is all of a call that the
 * libraries hand on to `fetch`.
 */
export const patienceOf = new WeakMap<AbortSignal, number>();
