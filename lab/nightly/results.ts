import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Form } from "./part.ts";

/** How the last run of a part ended. */
export interface Result {
  readonly day: string;
  /** The version of Node that the part is about. */
  readonly node: string;
  readonly outcome: "passed" | "failed";
  readonly seconds: number;
  /** The last line that it printed. */
  readonly figure: string;
}

/** The results by part. */
export type Results = Readonly<Record<string, Result>>;

/**
 * The results of earlier runs. Those of the long form are in `lab/bench/results/nightly.json`, which is committed, and each one also in
 * `.cache/nightly`. Those of the short form are only in `.cache/nightly/short`.
 */
export class KeptResults {
  readonly #root: string;
  readonly #form: Form;

  constructor(form: Form, root = ".") {
    this.#form = form;
    this.#root = root;
  }

  /** The folder for results and logs, which git ignores. */
  get folder(): string {
    return join(this.#root, ".cache/nightly", this.#form === "short" ? "short" : "");
  }

  /** The last result of each of these parts, if it has ever run. */
  of(parts: readonly { readonly name: string }[]): Results {
    const published = this.#form === "short" ? {} : read<Results>(this.#published);
    const found = parts.map(({ name }) => [name, published?.[name] ?? read<Result>(join(this.folder, `${name}.json`))]);
    return Object.fromEntries(found.filter(([, result]) => result !== undefined)) as Results;
  }

  keep(part: string, result: Result): void {
    write(join(this.folder, `${part}.json`), result);
    if (this.#form === "short") return;
    const all = { ...read<Results>(this.#published), [part]: result };
    write(this.#published, Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => a.localeCompare(b))));
  }

  get #published(): string {
    return join(this.#root, "lab/bench/results/nightly.json");
  }
}

function read<T>(file: string): T | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : undefined;
}

function write(file: string, value: object): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
