import { inBackground } from "./in-background.ts";

interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** Handles many items at once. Returns one result for each, in their order. An `Error` fails only its own item. */
export type BatchWork<I, R> = (items: readonly I[]) => Promise<readonly (R | Error)[]>;

/** Runs work once all items that belong together can have been added. */
export type Later = (work: () => void) => void;

/** Collects the items that are added in one turn of the event loop, and passes them to one call. */
export class BatchQueue<I, R> {
  readonly #work: BatchWork<I, R>;
  readonly #later: Later;
  #waiting: Waiting<I, R>[] = [];

  /** @param later when a batch ends; by default after this turn of the event loop */
  constructor(work: BatchWork<I, R>, later: Later = afterThisTurn) {
    this.#work = work;
    this.#later = later;
  }

  add(item: I): Promise<R> {
    if (this.#waiting.length === 0) this.#later(() => inBackground(this.#dispatch()));
    return new Promise<R>((resolve, reject) => this.#waiting.push({ item, resolve, reject }));
  }

  async #dispatch(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const results = await this.#work(waiting.map(({ item }) => item));
      waiting.forEach(({ resolve, reject }, index) => {
        const result = results[index] as R | Error;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** Runs the work after all promise callbacks of this turn, so that other fields can add their items. */
export function afterThisTurn(work: () => void): void {
  queueMicrotask(() => process.nextTick(work));
}
