/** Ends something that was left open, and returns the error that reports it. */
type End = () => Promise<Error>;

const open = new WeakMap<object, Set<End>>();

/**
 * Registers something that must end with a request or operation, after its dependencies are closed, because one of them may be
 * meant to end it. Returns a function to call when it has ended by itself.
 */
export function endWith(ctx: object, end: End): () => void {
  const ends = open.get(ctx) ?? new Set();
  open.set(ctx, ends);
  ends.add(end);
  return () => {
    ends.delete(end);
  };
}

/** Whether something is open that must end with the context, such as a transaction that a middleware has begun. */
export function hasOpen(ctx: object): boolean {
  return (open.get(ctx)?.size ?? 0) > 0;
}

/**
 * Ends everything that a context has left open, after its dependencies are closed. Leaving something open is a programming
 * error, and is reported like a dependency that failed to close: a response that says "saved" is not sent.
 */
export function endLeftOpen(
  ctx: object,
  closing: undefined | Promise<readonly unknown[]>,
): undefined | Promise<readonly unknown[]> {
  const ends = open.get(ctx);
  return ends === undefined || ends.size === 0 ? closing : endAfter(closing, ends);
}

async function endAfter(closing: undefined | Promise<readonly unknown[]>, ends: Set<End>): Promise<readonly unknown[]> {
  const errors = [...((await closing) ?? [])];
  // Looked up each time, because another may begin while one ends.
  for (let last = [...ends].at(-1); last !== undefined; last = [...ends].at(-1)) {
    ends.delete(last);
    errors.push(await last());
  }
  return errors;
}
