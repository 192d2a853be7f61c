import type { Reference, UniqueIndex } from "../../sql/guard/read-references.ts";
import type { AccessWarning } from "../surface/warnings-of.ts";

/**
 * Returns the foreign keys by which a row of one tenant can refer to a row of another, and the unique indexes that reveal whether
 * another tenant has a value. No statement through a guard shows either, because the database itself checks them.
 *
 * @param tenants the columns that the rules of each guarded table compare
 */
export function crossings(
  tenants: ReadonlyMap<string, ReadonlySet<string>>,
  references: readonly Reference[],
  indexes: readonly UniqueIndex[],
): readonly AccessWarning[] {
  const columnsOf = (table: string): ReadonlySet<string> => tenants.get(table) ?? new Set();
  const crossing = references.flatMap(({ table, columns, parent, keys, onDelete }): readonly AccessWarning[] => {
    const [own, of] = [columnsOf(table), columnsOf(parent)];
    // A row whose tenant is that of its parent cannot refer to another one.
    if (own.size === 0 || of.size === 0 || columns.some((column) => own.has(column))) return [];
    const shared = [...own].find((column) => of.has(column));
    const advice =
      shared === undefined
        ? `give both tables a column of the tenant, and make it part of the key`
        : `create a unique index on ${parent} (${[shared, ...keys].join(", ")}), and refer to it with foreign key (${[shared, ...columns].join(", ")})`;
    const cascade = /cascade|set/.test(onDelete) ? `, and "on delete ${onDelete}" then changes it` : "";
    return [
      {
        place: `${table} (${columns.join(", ")})`,
        sentence: `can refer to a row of another tenant in ${parent}${cascade}: ${advice}`,
      },
    ];
  });
  const revealing = indexes.flatMap(({ table, columns }): readonly AccessWarning[] => {
    const own = columnsOf(table);
    const [tenant] = own;
    if (tenant === undefined || columns.some((column) => own.has(column))) return [];
    return [
      {
        place: `${table} (${columns.join(", ")})`,
        sentence: `is unique for all tenants, so an insert reveals whether another one has the value: make (${[tenant, ...columns].join(", ")}) unique instead`,
      },
    ];
  });
  return [...crossing, ...revealing];
}
