/** The series of one metric, by the values of its labels. */
export class Series<T> {
  readonly #labels: readonly string[];
  readonly #make: () => T;
  readonly #rows = new Map<string, { readonly labels: string; readonly value: T }>();

  constructor(labels: readonly string[], make: () => T) {
    this.#labels = labels;
    this.#make = make;
  }

  /** The series with these values of the labels, which the first call creates. */
  of(...values: readonly string[]): T {
    const key = values.join("\n");
    let row = this.#rows.get(key);
    if (row === undefined) {
      const labels = this.#labels.map((name, index) => `${name}="${escape(values[index] ?? "")}"`).join(",");
      row = { labels, value: this.#make() };
      this.#rows.set(key, row);
    }
    return row.value;
  }

  /** The lines of a metric in Prometheus' text format, with its help and type; none if it has no series. */
  print(
    name: string,
    type: "histogram" | "counter" | "gauge",
    help: string,
    lines: (value: T, labels: string) => readonly string[],
  ): readonly string[] {
    if (this.#rows.size === 0) return [];
    const printed = [...this.#rows.values()].flatMap(({ labels, value }) => lines(value, labels));
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...printed];
  }
}

function escape(label: string): string {
  return label.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
