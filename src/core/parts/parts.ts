import type { Histogram } from "./histogram.ts";
import type { SeriesName } from "./series-list.ts";

/** One value that a part shows in metrics. */
export interface Figure {
  readonly series: SeriesName;
  /** The values of the labels, in the order of the series. */
  readonly labels: readonly string[];
  readonly value: number | Histogram;
}

/** A part of a running application whose state an operator has to see: a limit, a queue, a pool, a connection to a server. */
export interface Part {
  figures(): Iterable<Figure>;
  /** Rejects while its writes fail. `undefined` until it has written. */
  readonly checkWrites?: (() => Promise<void>) | undefined;
  /** A closed part is no longer shown. */
  readonly isClosed?: boolean;
}

/** The parts of one application. Each part is added by the code that owns it. */
export class Parts {
  readonly #parts = new Set<Part>();

  add(part: Part): void {
    this.#parts.add(part);
  }

  figures(): readonly Figure[] {
    return [...this.#open()].flatMap((part) => [...part.figures()]);
  }

  /** Whether any part has written. */
  get hasWritten(): boolean {
    return [...this.#open()].some(({ checkWrites }) => checkWrites !== undefined);
  }

  /** Rejects if a part that has written no longer can. */
  async checkWrites(): Promise<void> {
    await Promise.all([...this.#open()].map(async (part) => part.checkWrites?.()));
  }

  *#open(): Iterable<Part> {
    for (const part of this.#parts) {
      if (part.isClosed === true) this.#parts.delete(part);
      else yield part;
    }
  }
}
