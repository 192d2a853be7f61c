import type { BaseContext } from "./http-context.ts";

/** How long a connection remembers a value if no message and no event ends it, as in a handler that follows a timer. */
const MAX_MS = 1_000;

/** The values that are remembered for one question. */
interface Memos {
  readonly values: Map<object, unknown>;
  /** The time of the monotonic clock at which they end; `null` for a context that ends with its question. */
  readonly endAt: number | null;
}

const byContext = new WeakMap<object, Memos>();
const lasting = new WeakSet<object>();

/**
 * Returns the value that `owner` keeps for the question at hand: a request, an operation, a message of a socket, an event, or a
 * root field of a mutation. Everything that is remembered per context is kept here and nowhere else, which lint enforces: a
 * context may last for days, and a verdict that outlives its question lets a removed member in.
 */
export function memoOf<T>(ctx: object, owner: object, create: () => T): T {
  const { values } = memosOf(ctx);
  if (values.has(owner)) return values.get(owner) as T;
  const value = create();
  values.set(owner, value);
  return value;
}

/** Ends everything that a context remembers, because the next question begins, or another caller asks it. */
export function endMemos(ctx: object): void {
  byContext.delete(ctx);
}

/** Says that a context lasts as long as its connection, so that nothing is remembered for long between messages and events. */
export function outlivesQuestions(ctx: BaseContext): void {
  lasting.add(ctx);
  endMemos(ctx);
}

/** The events that a context follows. Each of them ends what the context remembers. */
export function eachAnew<T>(ctx: BaseContext, events: AsyncIterable<T, void, void>): AsyncIterable<T, void, void> {
  outlivesQuestions(ctx);
  return {
    [Symbol.asyncIterator]() {
      const iterator = events[Symbol.asyncIterator]();
      return {
        async next() {
          const event = await iterator.next();
          endMemos(ctx);
          return event;
        },
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function memosOf(ctx: object): Memos {
  const known = byContext.get(ctx);
  if (known !== undefined && (known.endAt === null || timeIn(ctx) < known.endAt)) return known;
  const memos = { values: new Map<object, unknown>(), endAt: lasting.has(ctx) ? timeIn(ctx) + MAX_MS : null };
  byContext.set(ctx, memos);
  return memos;
}

function timeIn(ctx: object): number {
  return (ctx as BaseContext).services.clock.monotonic();
}
