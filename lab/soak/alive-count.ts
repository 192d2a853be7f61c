/** How many of the objects that were shown to it are still in memory, by their kind. Those that a collection takes are gone. */
export class AliveCount {
  readonly #counts = new Map<string, number>();
  readonly #registry = new FinalizationRegistry<string>((kind) => this.#add(kind, -1));

  see(kind: string, object: object): void {
    this.#add(kind, 1);
    this.#registry.register(object, kind);
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  #add(kind: string, count: number): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
  }
}
