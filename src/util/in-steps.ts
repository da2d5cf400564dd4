/** Work in short steps. The caller can do something else between them. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Items of one step, which takes some milliseconds. */
const itemsOfStep = 2000;

/** Handles items, with a step after every 2,000. */
export function* inSteps<T>(items: Iterable<T>, work: (item: T, index: number) => void): Steps<void> {
  let index = 0;
  for (const item of items) {
    work(item, index++);
    if (index % itemsOfStep === 0) yield;
  }
}
