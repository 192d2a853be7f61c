import type { SelectQueryBuilder } from "kysely";

/** A select query of any type. */
export type AnyQuery = SelectQueryBuilder<any, any, any>;
