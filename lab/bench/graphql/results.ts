/** What one server costs on one workload. */
export interface Figure {
  readonly row: string;
  readonly workload: string;
  /** CPU time of the server's process per request, the lowest tenth of all rounds: other processes on the machine add to the rest. */
  readonly micros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** One round of load. */
export interface Round {
  readonly micros: number;
  readonly latencies: readonly number[];
}

/** Collects rounds and summarizes them. */
export class Results {
  readonly #rounds = new Map<string, Round[]>();

  add(row: string, workload: string, round: Round): void {
    const key = `${row}\n${workload}`;
    const rounds = this.#rounds.get(key) ?? [];
    this.#rounds.set(key, rounds);
    rounds.push(round);
  }

  figures(): readonly Figure[] {
    return [...this.#rounds].map(([key, rounds]) => {
      const [row = "", workload = ""] = key.split("\n");
      const latencies = rounds.flatMap((round) => round.latencies);
      const micros = rounds.map((round) => round.micros);
      return {
        row,
        workload,
        micros: rounded(quantile(micros, 0.1)),
        p50Ms: rounded(quantile(latencies, 0.5)),
        p99Ms: rounded(quantile(latencies, 0.99)),
      };
    });
  }
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
