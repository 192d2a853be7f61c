import type { SelectQueryBuilder } from "kysely";

/** A query of any shape. */
export type AnyQuery = SelectQueryBuilder<any, any, any>;
