/** Work in short steps: whoever runs it may do something else after each of them. */
export type Steps<T> = Generator<undefined, T>;

/** Does all of it at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Items that one step may handle: some milliseconds. */
const itemsOfStep = 2000;

/** The items, with a step after every few thousand. */
export function* inSteps<T>(items: Iterable<T>, work: (item: T, index: number) => void): Steps<void> {
  let index = 0;
  for (const item of items) {
    work(item, index++);
    if (index % itemsOfStep === 0) yield;
  }
}
