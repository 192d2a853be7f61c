import { setTimeout as sleep } from "node:timers/promises";

const MOMENT_MS = 100;

/**
 * Takes everything that a server has, until the returned function gives it back: first what is free, and after each `free` also
 * what others had. One of them may be faster once.
 */
export async function keepTaking<T>(
  take: () => Promise<T>,
  giveBack: (taken: T) => Promise<unknown>,
  free: () => void,
): Promise<() => Promise<unknown>> {
  const taken: T[] = [];
  const takeAll = async (): Promise<void> => {
    for (;;) taken.push(await take());
  };
  await takeAll().catch(() => {});
  let isOver = false;
  const loop = (async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- the returned function ends it
    while (!isOver) {
      free();
      await takeAll().catch(() => {});
      await sleep(MOMENT_MS);
    }
  })();
  return async () => {
    isOver = true;
    await loop;
    await Promise.all(taken.map((each) => giveBack(each).catch(() => {})));
  };
}
