/** The times of two kinds of failures, and whether an attacker can distinguish them. */
export interface Judgement {
  /** The chance that one of the first takes longer than one of the second: 0.5 when nothing tells them apart. */
  readonly auc: number;
  readonly medians: readonly [number, number];
  readonly isEqual: boolean;
}

/** Runs both in pairs, in random order, and judges by the Mann-Whitney statistic and by the medians. */
export async function judge(
  first: (pair: number) => Promise<unknown>,
  second: (pair: number) => Promise<unknown>,
  pairs: number,
): Promise<Judgement> {
  const times: [number[], number[]] = [[], []];
  for (let pair = 0; pair < pairs; pair++) {
    for (const which of Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const)) {
      const started = performance.now();
      await (which === 0 ? first : second)(pair);
      times[which].push(performance.now() - started);
    }
  }
  const auc = aucOf(times[0], times[1]);
  const medians = [medianOf(times[0]), medianOf(times[1])] as const;
  const apart = Math.abs(medians[0] - medians[1]);
  return { auc, medians, isEqual: auc >= 0.4 && auc <= 0.6 && apart <= Math.max(0.05 * Math.max(...medians), 2) };
}

/** The best of three: a machine that does something else meanwhile can spoil one. */
export async function bestOfThree(round: () => Promise<Judgement>): Promise<Judgement> {
  let last = await round();
  for (let n = 1; n < 3 && !last.isEqual; n++) last = await round();
  return last;
}

function aucOf(left: readonly number[], right: readonly number[]): number {
  const wins = left.map((x) => right.filter((y) => x > y).length + right.filter((y) => x === y).length / 2);
  return wins.reduce((sum, count) => sum + count, 0) / (left.length * right.length);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
