import { allOf, type Condition } from "../conditions/condition.ts";
import { InvalidFilterError } from "../query/pagination-error.ts";
import type { QueryParams } from "../query/query-params.ts";
import { type FilterValue, isMisread, readFilterValue } from "./filter-value.ts";
import type { FilterField, FilterFields, FilterTest } from "./filterable.ts";
import { conditionOf, parameterOf, testsOf } from "./tests-of.ts";

/** One comparison in a request. */
interface FilterTerm {
  readonly field: FilterField;
  readonly test: FilterTest;
  readonly value: FilterValue;
  /** Its name for the client. */
  readonly parameter: string;
}

/** The filters of one request, read and checked. */
export class Filters {
  readonly #terms: readonly FilterTerm[];

  constructor(terms: readonly FilterTerm[]) {
    this.#terms = terms;
  }

  /**
   * Reads the parameters that are filters by their names. Other parameters are left to the route, except those with a
   * dot, which only filters have. Throws `InvalidFilterError`.
   */
  static fromQuery(fields: FilterFields, params: QueryParams): Filters {
    const terms: FilterTerm[] = [];
    for (const parameter of Object.keys(params)) {
      const dot = parameter.indexOf(".");
      const field = fields.get(dot < 0 ? parameter : parameter.slice(0, dot));
      if (field === undefined && dot < 0) continue;
      const test = field && testsOf(field).find((one) => parameterOf(field.name, one) === parameter);
      if (field === undefined || test === undefined) throw unknownParameter(parameter, field, fields);
      const given: unknown = params[parameter];
      if (typeof given !== "string")
        throw refusal(parameter, Array.isArray(given) ? "was given more than once" : "must be a single value");
      terms.push(readTerm(field, test, given, parameter));
    }
    return new Filters(terms);
  }

  /** Reads an argument of GraphQL, which has the names and the types of the filters. Throws `InvalidFilterError`. */
  static fromArgument(fields: FilterFields, argument: Readonly<Record<string, unknown>> | null | undefined): Filters {
    const terms: FilterTerm[] = [];
    for (const field of fields.values()) {
      const tests = (argument?.[field.name] ?? {}) as Readonly<Record<string, unknown>>;
      for (const test of testsOf(field))
        if (tests[test] !== undefined) terms.push(readTerm(field, test, tests[test], `filter.${field.name}.${test}`));
    }
    return new Filters(terms);
  }

  /** The filtered names and their columns. */
  get fields(): readonly FilterField[] {
    return this.#terms.map(({ field }) => field);
  }

  /** Matches the rows that pass every filter. */
  get condition(): Condition {
    return allOf(this.#terms.map(({ field, test, value }) => conditionOf(field.column, test, value)));
  }

  /** The filters as text, equal for equal filters, or `null` without filters. Cursors are bound to it. */
  get text(): string | null {
    if (this.#terms.length === 0) return null;
    const entries = this.#terms.map(({ field, test, value }) =>
      JSON.stringify([field.name, test, Array.isArray(value) ? [...new Set(value)].toSorted(byText) : value]),
    );
    return entries.toSorted().join();
  }

  /** The error for a value that the source does not accept for its column, such as text for a UUID. */
  misfit(cause: unknown): InvalidFilterError {
    const names = this.#terms.map(({ parameter }) => parameter);
    const [parameter = "filter"] = names;
    return new InvalidFilterError(`a value of ${names.join(", ")} is not valid for its column`, { parameter, cause });
  }
}

function readTerm(field: FilterField, test: FilterTest, given: unknown, parameter: string): FilterTerm {
  const value = readFilterValue(field.type, test, given);
  if (isMisread(value)) throw refusal(parameter, value.reason);
  return { field, test, value, parameter };
}

function unknownParameter(parameter: string, field: FilterField | undefined, fields: FilterFields): InvalidFilterError {
  const known = (field === undefined ? [...fields.values()] : [field]).flatMap((one) =>
    testsOf(one).map((test) => parameterOf(one.name, test)),
  );
  // A name that only the client knows is repeated only if it is short and plain.
  const name = /^[\w.]{1,100}$/.test(parameter) ? parameter : "filter";
  const subject = field === undefined ? "the filters of this list are" : `the filters by ${field.name} are`;
  return new InvalidFilterError(`${subject} ${known.join(", ")}`, { parameter: name });
}

function refusal(parameter: string, reason: string): InvalidFilterError {
  return new InvalidFilterError(`${parameter} ${reason}`, { parameter });
}

function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1;
}
