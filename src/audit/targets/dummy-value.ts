import {
  type GraphQLInputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from "graphql";
import { FILE } from "./operation.ts";

/** A value of this type that means nothing. Gates run before values are looked at, so it only has to be accepted. */
export function dummyValue(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return dummyValue(type.ofType);
  if (isListType(type)) return [dummyValue(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const given = type.isOneOf ? fields.slice(0, 1) : fields.filter(isRequiredInputField);
    return Object.fromEntries(given.map((field) => [field.name, dummyValue(field.type)]));
  }
  return dummyScalar(type);
}

/** The first of a few usual values that the scalar accepts. */
function dummyScalar(scalar: GraphQLScalarType): unknown {
  if (scalar.name === "Upload") return FILE;
  return CANDIDATES.find((value) => isAccepted(scalar, value)) ?? CANDIDATES[0];
}

function isAccepted(scalar: GraphQLScalarType, value: unknown): boolean {
  try {
    return scalar.parseValue(value) !== undefined;
  } catch {
    return false;
  }
}

const CANDIDATES: readonly unknown[] = [
  "1",
  1,
  "00000000-0000-4000-8000-000000000000",
  "2000-01-01T00:00:00Z",
  "2000-01-01",
  "00:00:00Z",
  "audit@example.com",
  "https://example.com/",
  "9780306406157",
  "1.00",
  "1.00 EUR",
  "EUR",
  "en",
  "#000000",
  "+15550100",
  "127.0.0.1",
  "P1D",
  true,
  {},
  [],
  "",
];
