/** A place where text of a client is read. */
export interface Reader {
  readonly name: string;
  /** The most characters that are let in. */
  readonly most: number;
  /** The CPU time that the largest text may take, in milliseconds. @default 20 */
  readonly mostMs?: number;
  /** Each makes a hostile text of about so many characters. */
  readonly texts: readonly ((size: number) => string)[];
  /** Has it read; resolves with the status of the response, or with the code that the socket was closed with. */
  readonly read: (text: string) => Promise<number>;
  /** The outcomes that show that the text got to its reader. */
  readonly outcomes: readonly number[];
}

/** A text that repeats `unit`, with something before and after it. */
export function repeating(unit: string, before = "", after = ""): (size: number) => string {
  return (size) =>
    before + unit.repeat(Math.max(0, Math.floor((size - before.length - after.length) / unit.length))) + after;
}

/** Combining marks in the order that takes longest to sort. */
export function marks(size: number): string {
  return `a${"\u0315".repeat(size / 2)}${"\u0316".repeat(size / 2)}`;
}

/** Node refuses more than 16 kB of headers, the request line included; some of them are for the rest of the request. */
export const HEADERS: number = 15_000;
/** The default `maxBody`, and some characters less for what is around the text. */
export const BODY: number = 2 ** 20 - 1_000;
/** The worst megabyte takes the parsers of Node longer than 20 ms: JSON that nests, a form of plus signs, a list of numbers. */
export const BODY_MS: number = 600;
