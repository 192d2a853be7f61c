/** Keeps the thread busy for a while, as work without an `await` would. */
export function blockThread(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
