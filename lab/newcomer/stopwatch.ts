/** The seconds of each step. */
export class Stopwatch {
  readonly #name: string;
  readonly #seconds = new Map<string, number>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Runs a step and prints how long it took. */
  async time<T>(step: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    const seconds = (performance.now() - start) / 1000;
    this.#seconds.set(step, seconds);
    console.log(`${this.#name.padEnd(28)} ${step.padEnd(40)} ${seconds.toFixed(1).padStart(6)} s`);
    return result;
  }

  /** All seconds, without those of the given steps. */
  total(...except: readonly string[]): number {
    return [...this.#seconds].reduce((sum, [step, seconds]) => (except.includes(step) ? sum : sum + seconds), 0);
  }
}
