import { readTimestamp } from "../../core/read-timestamp.ts";
import type { PresentValue } from "../conditions/condition.ts";
import type { FilterTest, FilterType } from "./filterable.ts";

export type FilterValue = PresentValue | readonly PresentValue[];
/** Why a value is not valid, as the end of a sentence. */
export interface Misread {
  readonly reason: string;
}

/** The maximum number of values of `in`. */
export const MAX_VALUES = 100;
/** The maximum number of characters in a text. */
export const MAX_TEXT_LENGTH = 200;
const MAX_NUMBER_LENGTH = 40;
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Reads the value of a comparison: the text of a query parameter, or the value of a GraphQL argument. */
export function readFilterValue(type: FilterType, test: FilterTest, given: unknown): FilterValue | Misread {
  if (test === "isNull") return readValue("boolean", given);
  if (test === "in") return readList(type, given);
  if (test === "startsWith" && given === "") return { reason: "is empty" };
  return readValue(type, given);
}

export function isMisread(value: FilterValue | Misread): value is Misread {
  return typeof value === "object" && "reason" in value;
}

function readList(type: FilterType, given: unknown): readonly PresentValue[] | Misread {
  // One value more than allowed is enough to reject the list, so the rest is not read.
  const list = typeof given === "string" ? given.split(",", MAX_VALUES + 1) : (given as readonly unknown[]);
  if (list.length === 0 || given === "") return { reason: "is empty" };
  if (list.length > MAX_VALUES) return { reason: `accepts at most ${MAX_VALUES} values` };
  const values: PresentValue[] = [];
  for (const entry of list) {
    const value = readValue(type, entry);
    if (isMisread(value)) return value;
    values.push(value);
  }
  return values;
}

function readValue(type: FilterType, given: unknown): PresentValue | Misread {
  if (typeof type !== "string")
    return type.includes(given as string) ? (given as string) : { reason: `accepts only ${type.join(", ")}` };
  switch (type) {
    case "text":
      return readText(given as string);
    case "id":
      return given === "" ? { reason: "is empty" } : readText(given as string);
    case "boolean":
      if (typeof given === "boolean") return given;
      return given === "true" || given === "false" ? given === "true" : { reason: "must be true or false" };
    case "integer":
      return readNumber(given, INTEGER, Number.isSafeInteger) ?? { reason: "must be an integer" };
    case "number":
      return readNumber(given, NUMBER, Number.isFinite) ?? { reason: "must be a number" };
    case "date":
      return (
        (given instanceof Date ? given : readTimestamp(given)) ?? {
          reason: "must be RFC 3339 text with an offset, such as 2026-11-14T09:30:00Z",
        }
      );
  }
}

function readText(text: string): string | Misread {
  if (text.length > MAX_TEXT_LENGTH) return { reason: `accepts at most ${MAX_TEXT_LENGTH} characters` };
  // PostgreSQL rejects a NUL, and no database stores half of a surrogate pair.
  return text.includes("\0") || !text.isWellFormed() ? { reason: "contains invalid characters" } : text;
}

/** The length is checked first, so that ten thousand digits cost nothing. */
function readNumber(given: unknown, pattern: RegExp, isValid: (value: number) => boolean): number | null {
  const isText = typeof given === "string" && given.length <= MAX_NUMBER_LENGTH && pattern.test(given);
  const value = typeof given === "number" ? given : isText ? Number(given) : Number.NaN;
  // In JSON and in SQL, -0 is 0.
  return isValid(value) ? value + 0 : null;
}
