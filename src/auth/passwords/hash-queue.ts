import { ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";

/** The `Retry-After` value of a full queue. */
const RETRY_SECONDS = 1;

/** 503: the password was not hashed, so no secret was compared. */
export class HashingRefused extends ServiceUnavailable {
  override readonly name: string = "HashingRefused";

  constructor(message: string) {
    super(message, { retryAfterSeconds: RETRY_SECONDS });
  }
}

/** A limited number of slots for hashing, given out in the order of the requests. */
export class HashSlots {
  readonly size: number;
  #taken = 0;
  #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.size = size;
  }

  get areFree(): boolean {
    return this.#taken < this.size;
  }

  async take(): Promise<void> {
    if (this.areFree) {
      this.#taken++;
      return;
    }
    // `release` passes the slot on directly, so that a later caller cannot take it first.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}

/**
 * Half of libuv's threads, at least one. The other half stays free for files and DNS. All hashers of a process share
 * the slots, because they share the threads.
 */
const processSlots: HashSlots = new HashSlots(Math.max(1, Math.floor(threadCount() / 2)));

/** Reads the variable as libuv does. */
function threadCount(): number {
  const given = process.env["UV_THREADPOOL_SIZE"];
  if (given === undefined) return 4;
  const count = Number.parseInt(given, 10);
  return Number.isNaN(count) ? 1 : Math.min(1024, Math.max(1, count));
}

/** Queues work until a slot is free. Rejects with 503 if the queue is full. */
export class HashQueue {
  readonly #slots: HashSlots;
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor(maxWaiting: number, slots: HashSlots = processSlots) {
    this.#maxWaiting = maxWaiting;
    this.#slots = slots;
  }

  /** @param signal the work does not start after it is aborted, because the result would be discarded */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#slots.areFree) await this.#slots.take();
    else await this.#wait();
    try {
      if (signal?.aborted === true) throw new HashingRefused("The request ended before its password was hashed.");
      return await work();
    } finally {
      this.#slots.release();
    }
  }

  async #wait(): Promise<void> {
    if (this.#waiting >= this.#maxWaiting)
      throw new HashingRefused("Too many passwords are being hashed. Try again later.");
    this.#waiting++;
    await this.#slots.take();
    this.#waiting--;
  }
}
