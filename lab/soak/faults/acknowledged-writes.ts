import { Client } from "pg";
import { Excused } from "./documented-outcomes.ts";

/** What became of the writes, by the numbers of their entries. Each number is sent once and never again. */
export interface Writes {
  readonly acknowledged: readonly number[];
  /** The response was lost, or it was a 503 after the request had arrived: the row may be there. */
  readonly unsure: readonly number[];
  /** The request did not arrive, or was refused for good: there must be no row. */
  readonly refused: readonly number[];
}

/** The clients' record of their writes. */
export class WriteRecord {
  readonly #acknowledged: number[] = [];
  readonly #unsure: number[] = [];
  readonly #refused: number[] = [];
  #next = 1;

  /** Sends an entry with a new number. `send` rejects when the write was not acknowledged. */
  async write(send: (entry: { readonly number: number; readonly text: string }) => Promise<void>): Promise<void> {
    const number = this.#next++;
    try {
      await send({ number, text: textOf(number) });
      this.#acknowledged.push(number);
    } catch (error) {
      const mayBeDone = !(error instanceof Excused) || error.mayBeDone;
      (mayBeDone ? this.#unsure : this.#refused).push(number);
      throw error;
    }
  }

  get all(): Writes {
    return { acknowledged: this.#acknowledged, unsure: this.#unsure, refused: this.#refused };
  }
}

export interface WriteCheck {
  /** Acknowledged writes that are not in the table. */
  readonly lost: number;
  /** Writes that are in the table more than once. */
  readonly repeated: number;
  /** Refused writes that are in the table. */
  readonly refusedDone: number;
  /** A sentence for each kind. */
  readonly violations: readonly string[];
  /** How many of the unsure writes were carried out. */
  readonly unsureDone: number;
}

/** Compares the record with the rows that are in PostgreSQL. */
export async function checkWrites(url: string, writes: Writes): Promise<WriteCheck> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ number: number; text: string }>("select number, text from entries");
    const unsure = new Set(writes.unsure);
    return { ...compare(writes, rows), unsureDone: rows.filter(({ number }) => unsure.has(number)).length };
  } finally {
    await client.end();
  }
}

function compare(
  { acknowledged, unsure, refused }: Writes,
  rows: readonly { readonly number: number; readonly text: string }[],
): Omit<WriteCheck, "unsureDone"> {
  const counts = new Map<number, number>();
  for (const { number } of rows) counts.set(number, (counts.get(number) ?? 0) + 1);
  const known = new Set([...acknowledged, ...unsure, ...refused]);
  const isThere = (number: number): boolean => counts.has(number);
  const lost = acknowledged.filter((number) => !isThere(number));
  const repeated = [...counts].filter(([, count]) => count > 1).map(([number]) => number);
  const refusedDone = refused.filter(isThere);
  const found: readonly (readonly [what: string, numbers: readonly number[]])[] = [
    ["acknowledged writes are lost", lost],
    ["writes were carried out more than once", repeated],
    ["refused writes are there", refusedDone],
    ["rows were written by no client", [...counts.keys()].filter((number) => !known.has(number))],
    [
      "rows have the wrong text",
      rows.filter(({ number, text }) => text !== textOf(number)).map(({ number }) => number),
    ],
  ];
  const violations = [
    ...(acknowledged.length === 0 ? ["no write was acknowledged: the run proves nothing"] : []),
    ...found
      .filter(([, numbers]) => numbers.length > 0)
      .map(([what, numbers]) => `${numbers.length} ${what}, for example ${numbers.slice(0, 5).join(", ")}`),
  ];
  return { violations, lost: lost.length, repeated: repeated.length, refusedDone: refusedDone.length };
}

function textOf(number: number): string {
  return `Entry ${number}`;
}
