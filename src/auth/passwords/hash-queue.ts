import { ServiceUnavailable } from "../../http/context/http-exception.ts";

/** How soon a full queue is worth another try. */
const RETRY_SECONDS = 1;

/** Places to hash in, handed out in the order in which they were asked for. */
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
    // The place goes from hand to hand, so that nobody comes in between.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}

/**
 * Half of libuv's threads, at least one: the other half stays for files and names. All hashers of a process share them, for
 * they share the threads.
 */
const processSlots: HashSlots = new HashSlots(Math.max(1, Math.floor(threadCount() / 2)));

/** How libuv itself reads the variable. */
function threadCount(): number {
  const given = process.env["UV_THREADPOOL_SIZE"];
  if (given === undefined) return 4;
  const count = Number.parseInt(given, 10);
  return Number.isNaN(count) ? 1 : Math.min(1024, Math.max(1, count));
}

/** Lets work wait for a place, up to a bound; beyond it, rejects with 503. */
export class HashQueue {
  readonly #slots: HashSlots;
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor(maxWaiting: number, slots: HashSlots = processSlots) {
    this.#maxWaiting = maxWaiting;
    this.#slots = slots;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#slots.areFree) await this.#slots.take();
    else await this.#wait();
    try {
      return await work();
    } finally {
      this.#slots.release();
    }
  }

  async #wait(): Promise<void> {
    if (this.#waiting >= this.#maxWaiting)
      throw new ServiceUnavailable("Too many passwords are being checked", { retryAfterSeconds: RETRY_SECONDS });
    this.#waiting++;
    await this.#slots.take();
    this.#waiting--;
  }
}
