import { GraphQLError } from "graphql";
import type { ErrorCode } from "../../core/error-codes.ts";
import { isUnexpected } from "./format-error.ts";

/** How many errors of one execution are kept, besides the important ones. Only ten of them are sent and logged. */
const MAX_KEPT = 1_000;
/** How many unexpected errors are kept after that, because they are listed in preference to others. */
const MAX_UNEXPECTED = 20;

const MORE: ErrorCode = "TOO_MANY_ERRORS";

/** Stands for errors that are counted only. */
export class MoreErrors extends GraphQLError {
  readonly count: number;

  constructor(count: number) {
    super(`${count} more errors are not listed`, { extensions: { code: MORE, count } });
    this.count = count;
  }
}

/** The errors of one execution. A list with a hundred thousand refused fields must not keep as many errors in memory. */
export class ReportedErrors {
  readonly #kept: GraphQLError[] = [];
  #unexpected = 0;
  #dropped = 0;

  /** @param isImportant whether the error is kept however many there are, because it removes a root field */
  add(error: GraphQLError, isImportant: boolean): void {
    if (this.#kept.length < MAX_KEPT || isImportant) this.#kept.push(error);
    else if (this.#unexpected < MAX_UNEXPECTED && isUnexpected(error)) {
      this.#unexpected++;
      this.#kept.push(error);
    } else this.#dropped++;
  }

  /** The errors that are kept, in their order, and one that counts the others if there are any. */
  list(): readonly GraphQLError[] {
    return this.#dropped === 0 ? this.#kept : [...this.#kept, new MoreErrors(this.#dropped)];
  }
}
