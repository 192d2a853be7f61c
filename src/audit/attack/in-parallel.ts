/** Runs all tasks, at most this many at a time. */
export async function inParallel(most: number, tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const left = tasks.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const task of left) await task();
    }),
  );
}
