import type { KyselyPlugin } from "kysely";
import type { ConditionValue } from "../../pagination/conditions/condition.ts";

/** The query builder that a handler's query was made with. */
export interface QueryOrigin {
  /** The function that the application called, which messages begin with. */
  readonly label: string;
  /** Tells apart queries with the same text whose fields have other names. */
  readonly key: string;
  /** Plugins of the query that find the columns of its fields. */
  readonly plugins: readonly KyselyPlugin[];
  /** Returns a value that a field is compared with as the database stores it. */
  readonly encode: (field: string, value: ConditionValue) => ConditionValue;
}

export const KYSELY: QueryOrigin = {
  label: "tableHandler",
  key: "",
  plugins: [],
  encode: (_field, value) => value,
};
