import { Column, getTableColumns, is, SQL, type SQLWrapper, Subquery, Table } from "drizzle-orm";

/** A field of a query. */
export interface RowField {
  /** Its path in the row, such as `title` or `author.name`. */
  readonly name: string;
  readonly isNested: boolean;
  readonly field: SQLWrapper;
}

/** Returns the fields of a selection in the order in which Drizzle selects them. */
export function selectedFields(selection: Readonly<Record<string, unknown>>, prefix = ""): readonly RowField[] {
  return Object.entries(selection).flatMap(([key, field]) => {
    const name = prefix + key;
    if (is(field, Column) || is(field, SQL) || is(field, SQL.Aliased) || is(field, Subquery))
      return [{ name, field, isNested: prefix !== "" }];
    const nested = is(field, Table) ? getTableColumns(field) : (field as Readonly<Record<string, unknown>>);
    return selectedFields(nested, `${name}.`);
  });
}
