/** A process that is paused misses at most one part of the time limit. */
const PARTS = 4;

/**
 * Awaits `work` for at most `ms`, then rejects. A pause of this process itself uses up at most a quarter of that time, because
 * the request may still be unwritten or the response unread.
 *
 * @param heardAt when something last arrived from the other side, on the monotonic clock; the time starts again with it
 */
export function withTimeout<T>(
  ms: number,
  work: PromiseLike<T>,
  heardAt: () => number = () => Number.NEGATIVE_INFINITY,
): Promise<T> {
  // Without `Promise.race`, because authentication calls this for every request.
  return new Promise<T>((resolve, reject) => {
    let left = PARTS;
    let begunAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let isSettled = false;
    const wait = (): void => {
      // Node reads the network between a timer and an immediate.
      timer = setTimeout(() => setImmediate(judge), ms / PARTS).unref();
    };
    const judge = (): void => {
      if (isSettled) return;
      if (heardAt() > begunAt) {
        begunAt = performance.now();
        left = PARTS;
      }
      left--;
      if (left > 0) wait();
      else reject(new Error(`no response within ${ms} ms`));
    };
    const settle =
      <V>(how: (value: V) => void) =>
      (value: V): void => {
        isSettled = true;
        clearTimeout(timer);
        how(value);
      };
    wait();
    work.then(settle(resolve), settle(reject));
  });
}
