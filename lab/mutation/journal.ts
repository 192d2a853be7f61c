import { appendFileSync, closeSync, existsSync, openSync, readSync } from "node:fs";

/** What happened to a mutant or a test. */
export type Entry = Event & { readonly shard: string };

type Event =
  | { readonly kind: "trying"; readonly test: string; readonly mutant: string }
  | { readonly kind: "killed"; readonly test: string; readonly mutant: string; readonly reason: string }
  | { readonly kind: "suspect"; readonly test: string; readonly mutant: string }
  | { readonly kind: "done"; readonly test: string; readonly covered: readonly string[] }
  | { readonly kind: "unusable"; readonly test: string; readonly reason: string }
  | { readonly kind: "static"; readonly mutants: readonly string[] }
  | { readonly kind: "restart" };

/** A file with one entry on each line, which several processes read and append to. It tells a new process where to go on. */
export class Journal {
  readonly #file: string;
  readonly #shard: string;
  readonly #entries: Entry[] = [];
  #position = 0;
  #rest = "";

  /** `shard` names the process whose events are appended. */
  constructor(file: string, shard: string) {
    this.#file = file;
    this.#shard = shard;
  }

  append(event: Event): void {
    appendFileSync(this.#file, `${JSON.stringify({ ...event, shard: this.#shard })}\n`);
  }

  /** All entries until now. Reads only what was appended since the last call. */
  entries(): readonly Entry[] {
    if (!existsSync(this.#file)) return [];
    const file = openSync(this.#file, "r");
    const buffer = Buffer.alloc(65_536);
    for (let size = 1; size > 0; ) {
      size = readSync(file, buffer, 0, buffer.length, this.#position);
      this.#position += size;
      this.#rest += buffer.toString("latin1", 0, size);
    }
    closeSync(file);
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#entries.push(JSON.parse(Buffer.from(line, "latin1").toString()) as Entry);
    return this.#entries;
  }
}
