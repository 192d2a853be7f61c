import { AsyncLocalStorage } from "node:async_hooks";
import { encodeEvent, type PubSub, type Topic } from "../../stores/pub-sub.ts";
import type { BaseContext } from "./http-context.ts";

/** The hold of the transaction that this code has begun itself: of several that are open side by side, its own. */
const begun = new AsyncLocalStorage<EventHold>();

/**
 * What a context publishes while a transaction is open: it goes out when that is committed, and never when it is not. Nobody
 * hears of what is not there.
 */
export class EventHold {
  readonly #ctx: BaseContext;
  readonly #outer: EventHold | null;
  /** The one that the code around had begun. */
  readonly #around: EventHold | undefined;
  #before: EventHold | undefined;
  readonly #held: (() => Promise<void>)[] = [];
  #state: "waiting" | "open" | "over" = "waiting";

  /** @internal See `holdEvents`. */
  constructor(ctx: BaseContext, outer: EventHold | null, around: EventHold | undefined) {
    this.#ctx = ctx;
    this.#outer = outer;
    this.#around = around?.alive("around");
  }

  /** The transaction is open. */
  open(): void {
    this.#state = "open";
    this.#before = holds.get(this.#ctx);
    holds.set(this.#ctx, this);
  }

  isOpenFor(ctx: BaseContext): boolean {
    return this.#state === "open" && this.#ctx === ctx;
  }
  /** This one, or the next that has not ended: around it in the code, or open before it in the context. */
  alive(where: "around" | "before"): EventHold | undefined {
    if (this.#state !== "over") return this;
    return (where === "around" ? this.#around : this.#before)?.alive(where);
  }
  get around(): EventHold | undefined {
    return this.#around?.alive("around");
  }

  /** Throws `TypeError` for what JSON cannot carry, here and not after the commit. */
  async add<T>(bus: PubSub, topic: Topic<T>, value: T): Promise<void> {
    const copy = JSON.parse(encodeEvent(topic.name, value)) as T;
    this.#held.push(() => bus.publish(topic, copy));
  }

  /** The transaction was committed, or not. What a savepoint held waits for the transaction around it. */
  async end(isCommitted: boolean): Promise<void> {
    if (this.#state === "over") return;
    this.#state = "over";
    if (holds.get(this.#ctx) === this) setHold(this.#ctx, this.#before?.alive("before"));
    if (!isCommitted) return;
    if (this.#outer !== null) this.#outer.#held.push(...this.#held);
    else for (const publish of this.#held) await publish().catch((err: unknown) => this.#report(err));
  }

  #report(err: unknown): void {
    this.#ctx.log.error({ err }, "failed to publish an event after its transaction was committed");
  }
}

const holds = new WeakMap<BaseContext, EventHold>();

function setHold(ctx: BaseContext, hold: EventHold | undefined): void {
  if (hold === undefined) holds.delete(ctx);
  else holds.set(ctx, hold);
}

/**
 * What the context publishes waits for the end of a transaction, from the moment on at which that is open; `outer` is the one
 * around it. Called at once by whoever begins it, before anything is waited for: so the code that goes on from there is known.
 */
export function holdEvents(ctx: BaseContext, outer: EventHold | null = null): EventHold {
  const hold = new EventHold(ctx, outer, begun.getStore());
  begun.enterWith(hold);
  return hold;
}

/** Publishes for a context: at once, or with its transaction. */
export function publishFrom<T>(ctx: BaseContext, bus: PubSub, topic: Topic<T>, value: NoInfer<T>): Promise<void> {
  const hold = ownHold(ctx) ?? holds.get(ctx);
  return hold === undefined ? bus.publish(topic, value) : hold.add(bus, topic, value);
}

function ownHold(ctx: BaseContext): EventHold | undefined {
  let hold = begun.getStore();
  while (hold !== undefined && !hold.isOpenFor(ctx)) hold = hold.around;
  return hold;
}
