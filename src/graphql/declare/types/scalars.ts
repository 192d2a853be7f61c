import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  valueFromASTUntyped,
} from "graphql";
import { readTimestamp } from "../../../core/read-timestamp.ts";
import { noteLossless } from "./is-lossless.ts";
import { type Scalar, scalar, scalarOf } from "./scalar.ts";
import { isUpload, type Upload } from "./upload.ts";

/**
 * `ID`: a string that identifies an object. A resolver or a property may return an integer, such as the key of a row, and the
 * client receives a string. A number that the client sends arrives as a string.
 */
export const id: Scalar<string, string | number> = scalarOf(GraphQLID);
/** `Int`: integers from -2^31 to 2^31 - 1. */
export const int: Scalar<number> = scalarOf(GraphQLInt);
/** `Float`: any number that JSON can carry. */
export const float: Scalar<number> = scalarOf(GraphQLFloat);
/** `String`. */
export const string: Scalar<string> = scalarOf(GraphQLString);
/** `Boolean`. */
export const boolean: Scalar<boolean> = scalarOf(GraphQLBoolean);

function lossless<T>(type: Scalar<T>): Scalar<T> {
  noteLossless((type["~node"] as { readonly type: GraphQLScalarType }).type);
  return type;
}

/** `DateTime`: a point in time, RFC 3339 text for clients and a `Date` for resolvers, to the millisecond. */
export const dateTime: Scalar<Date> = lossless(
  scalar<Date>("DateTime", {
    description: "A point in time, as RFC 3339 text with its offset: 2026-11-14T09:30:00Z.",
    specifiedByUrl: "https://scalars.graphql.org/andimarek/date-time",
    serialize(value) {
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
      throw new TypeError("DateTime must be a valid Date");
    },
    parse(value) {
      const date = readTimestamp(value);
      if (date === null) throw new GraphQLError("DateTime must be RFC 3339 text such as 2026-11-14T09:30:00Z");
      return date;
    },
  }),
);

/** `JSON`: any value that JSON can carry, unchecked. */
export const json: Scalar<unknown> = scalarOf(
  noteLossless(
    new GraphQLScalarType({
      name: "JSON",
      description: "Any JSON value.",
      specifiedByURL: "https://www.rfc-editor.org/rfc/rfc8259",
      serialize: (value) => value,
      parseValue: (value) => value,
      parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
    }),
  ),
);

/** `Upload`: a file that is sent with the operation, as a part of a multipart request. Only for arguments. */
export const upload: Scalar<Upload> = scalar<Upload>("Upload", {
  description: "A file that is sent with the operation, as a part of a multipart request.",
  serialize() {
    throw new TypeError("Upload can only be the type of an argument");
  },
  parse(value) {
    if (isUpload(value)) return value;
    throw new GraphQLError("Upload must be a file, sent as a part of a multipart request");
  },
});
