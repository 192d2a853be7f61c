/**
 * So many requests, in progress or rejected in the last second, may be clients that wait for their responses: those that end
 * within two seconds, up to a number of clients.
 */
const PATIENT_SECONDS = 2;
const MAX_PATIENT = 512;
/** Demand exceeds supply if this share more requests arrive than end. */
const EXCESS = 0.5;
/** The numbers of samples: half a second to compare arrivals with, and the second in which a rejected client may come back. */
const COMPARED = 5;
const REMEMBERED = 10;

/** The requests of one sample, and those in progress at its end. */
interface Sample {
  readonly arrived: number;
  readonly rejected: number;
  readonly open: number;
}

const NOTHING: Sample = { arrived: 0, rejected: 0, open: 0 };

/**
 * Tells an overload from clients that send each request after the response to the last one. However long those wait, no more
 * requests arrive than end. In an overload more arrive, and they are either rejected or make the queue longer.
 */
export class Demand {
  #samples: readonly Sample[] = Array.from({ length: REMEMBERED + 1 }, () => NOTHING);
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
  sample(open: number, ownShare: number): boolean {
    this.#samples = [...this.#samples.slice(1), { arrived: this.#arrived, rejected: this.#rejected, open }];
    this.#arrived = 0;
    this.#rejected = 0;
    const [compared, second] = [this.#last(COMPARED), this.#last(REMEMBERED)];
    const patient = Math.min(MAX_PATIENT, (PATIENT_SECONDS * second.ended) / ownShare);
    const excess = compared.arrived - compared.ended;
    return open + second.rejected > patient && excess > EXCESS * compared.ended;
  }

  #last(count: number): { readonly arrived: number; readonly rejected: number; readonly ended: number } {
    const samples = this.#samples.slice(-count);
    const growth = (this.#samples.at(-1) as Sample).open - (this.#samples.at(-count - 1) as Sample).open;
    const [arrived, rejected] = [sum(samples, "arrived"), sum(samples, "rejected")];
    return { arrived, rejected, ended: arrived - rejected - growth };
  }
}

function sum(samples: readonly Sample[], field: keyof Sample): number {
  return samples.reduce((total, sample) => total + sample[field], 0);
}
