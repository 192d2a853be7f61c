import type { BaseContext } from "./http-context.ts";

/** Ends what was left open, and gives the error that tells of it. */
type End = () => Promise<Error>;

const open = new WeakMap<BaseContext, Set<End>>();

/**
 * Has something that a request or operation has begun end with it, after its dependencies are closed: one of them may be meant to
 * end it. Gives what says that it has ended by itself.
 */
export function endWith(ctx: BaseContext, end: End): () => void {
  const ends = open.get(ctx) ?? new Set();
  open.set(ctx, ends);
  ends.add(end);
  return () => void ends.delete(end);
}

/**
 * Ends what a context has left open when the closing of its dependencies is over. What is left open is an error of the author, who is
 * told as of a dependency that could not be closed: an answer that says "saved" is not sent.
 */
export function endLeftOpen(
  ctx: BaseContext,
  closing: undefined | Promise<readonly unknown[]>,
): undefined | Promise<readonly unknown[]> {
  const ends = open.get(ctx);
  return ends === undefined || ends.size === 0 ? closing : endAfter(closing, ends);
}

async function endAfter(closing: undefined | Promise<readonly unknown[]>, ends: Set<End>): Promise<readonly unknown[]> {
  const errors = [...((await closing) ?? [])];
  // Looked for anew each time: while one ends, another may begin.
  for (let last = [...ends].at(-1); last !== undefined; last = [...ends].at(-1)) {
    ends.delete(last);
    errors.push(await last());
  }
  return errors;
}
