import { docsAddress } from "../core/advice/docs-address.ts";
import { errorCodes } from "../core/error-codes.ts";

/** The errors with one code. */
export interface ErrorFigures {
  readonly count: number;
  /** The correlation id of the last one, which is also in its log line; `null` if it has none. */
  readonly correlation_id: string | null;
  /** The address of the documentation of the code; `null` for a code of the application. */
  readonly docs: string | null;
}

/** The code of responses with an error status that a handler wrote itself. */
export const NO_CODE = "<response>";
const OTHER = "<other>";
const MAX_CODES = 100;
const MAX_CODE_LENGTH = 100;

/** Counts errors by code. An application may invent codes, so their number and length are limited. */
export class ErrorsByCode {
  // A Map, because an application may use `constructor` as a code.
  readonly #codes = new Map<string, { count: number; id: string | null }>();

  add(code: string, id: string | null, count = 1): void {
    const isListed = this.#codes.has(code) || (this.#codes.size < MAX_CODES && code.length <= MAX_CODE_LENGTH);
    const name = isListed ? code : OTHER;
    const before = this.#codes.get(name);
    this.#codes.set(name, { count: (before?.count ?? 0) + count, id: id ?? before?.id ?? null });
  }

  figures(): Readonly<Record<string, ErrorFigures>> {
    const entries = [...this.#codes].map(([code, { count, id }]): [string, ErrorFigures] => {
      const docs = Object.hasOwn(errorCodes, code) ? docsAddress(`errors.md#${code}`) : null;
      return [code, { count, correlation_id: id, docs }];
    });
    return Object.fromEntries(entries);
  }

  clear(): void {
    this.#codes.clear();
  }
}
