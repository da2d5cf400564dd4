import { Semaphore } from "./semaphore.ts";

export interface OrderOptions {
  /** The most that are worked on at a time. */
  readonly parallel: number;
  /** The most results that wait for an earlier one. */
  readonly ahead: number;
  /** Returns true if no other item is begun. Default: never. */
  readonly isOver?: () => boolean;
}

/** Yields what becomes of items in their order, while later ones are worked on. Rejects as the items and `work` do. */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  { parallel, ahead, isOver = () => false }: OrderOptions,
): AsyncGenerator<R, void> {
  const slots = new Semaphore(parallel);
  const source = items[Symbol.asyncIterator]();
  const results = new ReadableStream<{ readonly result: Promise<R> }>(
    {
      pull: async (controller) => {
        const leave = await slots.take();
        const next = isOver() ? undefined : await source.next();
        if (!next || next.done) {
          leave();
          return controller.close();
        }
        const result = work(next.value).finally(leave);
        // Awaited in its turn, below.
        result.catch(() => undefined);
        controller.enqueue({ result });
      },
      cancel: async () => {
        await source.return?.();
      },
    },
    { highWaterMark: ahead },
  );
  for await (const { result } of results) yield await result;
}
