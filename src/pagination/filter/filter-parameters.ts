import type { ParameterDescription } from "../query/parameter-description.ts";
import { MAX_TEXT_LENGTH, MAX_VALUES } from "./filter-value.ts";
import type { FilterField, FilterFields, FilterTest, FilterType } from "./filterable.ts";
import { parameterOf, testsOf } from "./tests-of.ts";

/** Describes the query parameters of the filters for the OpenAPI document. */
export function filterParameters(fields: FilterFields | null): readonly ParameterDescription[] {
  return [...(fields?.values() ?? [])].flatMap((field) =>
    testsOf(field).map((test) => ({
      name: parameterOf(field.name, test),
      description: SENTENCES[test](field.name),
      schema: schemaOf(field, test),
    })),
  );
}

const SENTENCES: Readonly<Record<FilterTest, (name: string) => string>> = {
  equal: (name) => `Only items with this ${name}.`,
  in: (name) => `Only items with one of these values of ${name}.`,
  gt: (name) => `Only items whose ${name} is greater than this value.`,
  gte: (name) => `Only items whose ${name} is at least this value.`,
  lt: (name) => `Only items whose ${name} is less than this value.`,
  lte: (name) => `Only items whose ${name} is at most this value.`,
  startsWith: (name) => `Only items whose ${name} begins with this text.`,
  isNull: (name) => `Only items without ${name} if true, only items with ${name} if false.`,
};

function schemaOf({ type }: FilterField, test: FilterTest): Readonly<Record<string, unknown>> {
  if (test === "isNull") return { type: "boolean" };
  if (test === "in") return { type: "array", items: valueSchema(type), minItems: 1, maxItems: MAX_VALUES };
  return test === "startsWith" ? { ...valueSchema(type), minLength: 1 } : valueSchema(type);
}

function valueSchema(type: FilterType): Readonly<Record<string, unknown>> {
  if (typeof type !== "string") return { type: "string", enum: [...type] };
  switch (type) {
    case "text":
      return { type: "string", maxLength: MAX_TEXT_LENGTH };
    case "id":
      return { type: "string", minLength: 1, maxLength: MAX_TEXT_LENGTH };
    case "date":
      return { type: "string", format: "date-time" };
    case "integer":
    case "number":
    case "boolean":
      return { type };
  }
}
