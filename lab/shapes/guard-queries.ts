import { sql } from "kysely";
import type { GuardQuery, GuardRow, GuardWrite } from "./guard-case.ts";

type Engine = "postgres" | "sqlite";

/**
 * Builds a query.
 *
 * @param db the handle or the query creator of a CTE; @param root the handle, for subqueries that are built on their own
 */
export function guardQuery(
  engine: Engine,
  db: any,
  root: any,
  q: GuardQuery,
  given: readonly string[] = [],
  depth = 0,
): any {
  let creator = db;
  let names = given;
  if (q.cte !== null) {
    const { name, recursive, second, query } = q.cte;
    creator = creator[recursive ? "withRecursive" : "with"](name, (inner: any) =>
      guardQuery(engine, inner, root, query, names, depth + 10),
    );
    if (second) creator = creator.with("x2", (inner: any) => inner.selectFrom(name).select(["id", "org", "ref"]));
    names = [...names, name];
  }
  const known = (name: string): string => (name === "x" && !names.includes("x") ? "a" : name);
  const first = q.alias ? `s${depth}` : known(q.table);
  let built = creator.selectFrom(q.alias ? `${known(q.table)} as ${first}` : first);
  let last = first;
  for (const [index, { type, table, column }] of q.joins.entries()) {
    last = `j${depth}_${index}`;
    const lateral = (eb: any): any =>
      eb
        .selectFrom(known(table))
        .selectAll()
        .where(`${known(table)}.${column}`, "=", sql.ref(`${first}.${column}`))
        .as(last);
    const isLateral = type.toLowerCase().includes("lateral");
    if (type === "cross") built = built.crossJoin(`${known(table)} as ${last}`);
    else if (isLateral && engine === "postgres")
      built = built[type === "lateral" ? "innerJoinLateral" : "leftJoinLateral"](lateral, (join: any) => join.onTrue());
    else
      built = built[`${isLateral ? "inner" : type}Join`](
        `${known(table)} as ${last}`,
        `${last}.${column}`,
        `${first}.${column}`,
      );
  }
  for (const [index, predicate] of q.where.entries()) {
    const mine = `${first}.${predicate.column}`;
    const sub = `e${depth}_${index}`;
    if ("viaRoot" in predicate) {
      const { kind, table, column, viaRoot } = predicate;
      built = built.where((eb: any) => {
        const rows = (viaRoot && !names.includes(known(table)) ? root : eb).selectFrom(`${known(table)} as ${sub}`);
        if (kind === "in") return eb(mine, "in", rows.select(`${sub}.${column}`));
        const found = rows.select(`${sub}.id`).where(`${sub}.${column}`, "=", sql.ref(mine));
        return kind === "exists" ? eb.exists(found) : eb.not(eb.exists(found));
      });
    } else if (predicate.kind === "less") built = built.where(mine, "<=", predicate.value);
    else {
      const { value } = predicate;
      built = built.where(sql`${sql.ref(mine)} = ${sql.lit(value)} or ${sql.ref(`${first}.id`)} > ${sql.lit(4)}`);
    }
  }
  const scalar = (eb: any): any =>
    eb
      .selectFrom(`${known("x")} as z${depth}`)
      .select((inner: any) => inner.fn.count(`z${depth}.id`).as("n"))
      .as("ref");
  if (q.group)
    built = built
      .select((eb: any) => [
        `${first}.org as id`,
        eb.fn.count(`${last}.id`).as("org"),
        eb.fn.max(`${first}.ref`).as("ref"),
      ])
      .groupBy(`${first}.org`);
  else
    built = built.select([`${first}.id as id`, `${last}.org as org`]).select(q.scalar ? scalar : `${first}.ref as ref`);
  // SQLite has no parentheses around the parts of a set operation.
  const isBare = q.limit !== null || q.cte !== null;
  if (q.set !== null && !(isBare && engine === "sqlite"))
    built = built[q.set.op](
      guardQuery(engine, db, root, { ...q.set.query, limit: null, cte: null, set: null }, names, depth + 1),
    );
  if (q.limit !== null) built = built.orderBy("id").orderBy("org").orderBy("ref").limit(q.limit);
  return q.wrap ? (depth === 0 && q.cte === null ? root : db).selectFrom(built.as(`w${depth}`)).selectAll() : built;
}

/** Builds a write. */
export function guardWrite(engine: Engine, handle: any, w: GuardWrite): any {
  if (!isInCte(engine, w)) return built(engine, handle, w, w.returning);
  return handle
    .with("written", (creator: any) => built(engine, creator, w, true))
    .selectFrom("written")
    .select("written.id");
}

/** Whether the write is in WITH. It then changes rows, whether or not they are read. */
export function isInCte(engine: Engine, { inCte }: GuardWrite): boolean {
  return inCte && engine === "postgres";
}

function built(engine: Engine, db: any, w: GuardWrite, isReturning: boolean): any {
  const name = w.alias ? "t" : w.table;
  const target = w.alias ? `${w.table} as t` : w.table;
  const isInsert = w.kind.includes("insert") || w.kind === "upsert";
  const done = (query: any): any =>
    isReturning ? query.returning(engine === "sqlite" || isInsert ? "id" : `${name}.id`) : query;
  const joined = (query: any): any => query.whereRef(`${name}.${w.by}`, "=", `o.${w.by}`);
  switch (w.kind) {
    case "update":
      return done(
        db
          .updateTable(target)
          .set({ [w.set]: w.to })
          .where(`${name}.${w.by}`, "<=", w.value),
      );
    case "update from":
      return done(
        joined(
          db
            .updateTable(target)
            .from(`${w.other} as o`)
            .set({ [w.set]: w.to }),
        ),
      );
    case "delete":
      return done(
        db
          .deleteFrom(target)
          .where(sql`${sql.ref(`${name}.${w.by}`)} = ${sql.lit(w.value)} or ${sql.ref(`${name}.id`)} = ${sql.lit(1)}`),
      );
    case "delete using":
      return engine === "postgres"
        ? done(joined(db.deleteFrom(target).using(`${w.other} as o`)))
        : done(
            db
              .deleteFrom(target)
              .where((eb: any) => eb.exists(joined(eb.selectFrom(`${w.other} as o`).select("o.id")))),
          );
    case "insert select":
      return done(
        db
          .insertInto(w.table)
          .columns(["id", "org", "ref"])
          .expression((eb: any) =>
            eb.selectFrom(`${w.other} as o`).select([sql`${sql.ref("o.id")} + 100`.as("id"), "o.org", "o.ref"]),
          ),
      );
    case "upsert":
      return done(
        db
          .insertInto(w.table)
          .values(w.rows)
          .onConflict((conflict: any) =>
            conflict.column("id").doUpdateSet((eb: any) => ({ [w.set]: eb.ref(`excluded.${w.set}`) })),
          ),
      );
    case "insert":
      return done(db.insertInto(w.table).values(w.rows.map((row: GuardRow) => ({ ...row, id: row.id + 100 }))));
  }
}
