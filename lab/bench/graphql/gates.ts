/** The cost of a workload on a server: a row and a workload of the report. */
export type Cell = readonly [row: string, workload: string];

/** A promise about the cost of a request, as the ratio or the difference of two costs that were measured in one run. */
export interface Gate {
  readonly title: string;
  readonly cost: Cell;
  readonly base: Cell;
  /** `times`: how many requests fit in the time of one of `base`, at least. `µs`: how much more one costs, at most. */
  readonly unit: "times" | "µs";
  readonly gate: number;
  readonly goal: number;
  /** Whether CI fails when the figure is clearly worse than the gate. */
  readonly isInCi: boolean;
}

/** The gates of `npm run bench -- graphql`. */
export const graphqlGates: readonly Gate[] = [
  faster("A", "graphql-js 16", { gate: 0.8, goal: 1, isInCi: true }),
  // Not in CI: it is not reached. Mercurius with jit costs as much as bare graphql-js on a request this small.
  faster("A", "Mercurius + jit", { gate: 1.1, goal: 1.5, isInCi: false }),
  // Not in CI: a difference grows with the time that the machine takes, a ratio does not.
  {
    title: "A, all protections and hooks against the same handler without",
    cost: ["Portico", "A"],
    base: ["Portico, protections off", "A"],
    unit: "µs",
    gate: 5,
    goal: 2,
    isInCi: false,
  },
  {
    title: "C against B",
    cost: ["Portico", "C"],
    base: ["Portico", "B"],
    unit: "times",
    gate: 0.9,
    goal: 1,
    isInCi: true,
  },
  faster("D", "graphql-js 16", { gate: 0.85, goal: 1.1, isInCi: true }),
  faster("B", "graphql-js 16", { gate: 3.5, goal: 4.5, isInCi: true }),
  faster("B", "graphql-jit", { gate: 0.85, goal: 1, isInCi: false }),
  faster("B", "Mercurius + jit", { gate: 0.95, goal: 1.2, isInCi: true }),
  faster("B", "Yoga", { gate: 4.5, goal: 6, isInCi: false }),
  faster("B", "Yoga + jit", { gate: 1.7, goal: 2.2, isInCi: false }),
  faster("B", "Apollo Server", { gate: 7, goal: 10, isInCi: false }),
];

/** The gates of `npm run bench -- http`. */
export const httpGates: readonly Gate[] = [
  faster("GET", "Fastify", { gate: 0.95, goal: 1, isInCi: true }),
  faster("gated POST", "Fastify", { gate: 0.85, goal: 0.95, isInCi: true }),
];

function faster(workload: string, base: string, bounds: Pick<Gate, "gate" | "goal" | "isInCi">): Gate {
  return {
    title: `${workload} against ${base}`,
    cost: ["Portico", workload],
    base: [base, workload],
    unit: "times",
    ...bounds,
  };
}
