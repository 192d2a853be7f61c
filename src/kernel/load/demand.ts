/** As many requests as end within this time, without the time of the host, may be clients that wait for their responses. */
const PATIENT_MS = 2_000;
/** So few clients are not an overload. */
const MIN_PATIENT = 32;
/** Demand exceeds supply if this share more requests arrive than end. */
const EXCESS = 0.5;
/** Arrivals are compared with this many samples. */
const COMPARED = 5;
/** A rejected client may come back within this time, as far as the host left it to this process. */
const REMEMBERED_MS = 3_000;
/** As many samples as the host may make of that time. */
const KEPT = 90;

/** The requests of one sample, and those in progress at its end. */
interface Sample {
  readonly arrived: number;
  readonly rejected: number;
  readonly open: number;
  readonly lastedMs: number;
}

const NOTHING: Sample = { arrived: 0, rejected: 0, open: 0, lastedMs: 0 };

/**
 * Tells an overload from clients that send each request after the response to the last one. However long those wait, no more
 * requests arrive than end. In an overload more arrive, and they are either rejected or make the queue longer.
 */
export class Demand {
  #samples: readonly Sample[] = [NOTHING];
  #arrived = 0;
  #rejected = 0;

  arrive(): void {
    this.#arrived++;
  }
  reject(): void {
    this.#rejected++;
  }

  /**
   * Ends a sample, with the number of requests in progress and the share of the time that the host left to this process. Returns
   * whether the demand exceeds the supply.
   */
  sample(open: number, ownShare: number, lastedMs: number): boolean {
    const sample = { arrived: this.#arrived, rejected: this.#rejected, open, lastedMs };
    this.#samples = [...this.#samples.slice(-KEPT), sample];
    this.#arrived = 0;
    this.#rejected = 0;
    const before = this.#samples.at(-COMPARED - 1) ?? NOTHING;
    const compared = this.#samples.slice(-COMPARED);
    const [arrived, rejected] = [sum(compared, "arrived"), sum(compared, "rejected")];
    const ended = arrived - rejected - (open - before.open);
    const patient = Math.max(MIN_PATIENT, (ended * PATIENT_MS) / (sum(compared, "lastedMs") * ownShare));
    return open + this.#rejectedWithin(REMEMBERED_MS / ownShare) > patient && arrived - ended > EXCESS * ended;
  }

  #rejectedWithin(ms: number): number {
    let [count, sinceMs] = [0, 0];
    for (const { rejected, lastedMs } of this.#samples.toReversed()) {
      if (sinceMs >= ms) break;
      count += rejected;
      sinceMs += lastedMs;
    }
    return count;
  }
}

function sum(samples: readonly Sample[], field: keyof Sample): number {
  return samples.reduce((total, sample) => total + sample[field], 0);
}
