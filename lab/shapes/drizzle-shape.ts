import { eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias as mysqlAlias } from "drizzle-orm/mysql-core";
import { alias as pgAlias } from "drizzle-orm/pg-core";
import { alias as sqliteAlias } from "drizzle-orm/sqlite-core";
import { drizzleHandler } from "../../src/drizzle/index.ts";
import { type AnyTable, type DrizzleDatabase, openDrizzle, tableOf } from "../servers/drizzle-databases.ts";
import type { Engine } from "../servers/engines.ts";
import type { OpenShape } from "./check-shapes.ts";
import { isJoin, type ShapeCase } from "./shape-case.ts";
import { ownerColumns, projectColumns } from "./shape-tables.ts";

type Fields = Readonly<Record<string, SQLWrapper>>;

const ALIASES = { PostgreSQL: pgAlias, MariaDB: mysqlAlias, SQLite: sqliteAlias };

/** The lists of Drizzle. It has no `*` beside other columns, and its schemas and unions are not part of a query. */
export const shapesOfDrizzle: OpenShape = (engine) => {
  const drizzle = openDrizzle(engine);
  return {
    handlerOf: (shape) => {
      const isAll = shape.selection === "all" && !isJoin(shape);
      if (!isAll && shape.selection !== "names") return null;
      const query = drizzleShape(engine, drizzle, shape);
      return query === null ? null : drizzleHandler(query as never);
    },
    close: () => drizzle.close(),
  };
};

function drizzleShape(engine: Engine, { db }: DrizzleDatabase, shape: ShapeCase): unknown {
  const named = (table: AnyTable, name: string): AnyTable =>
    (ALIASES[engine.name] as unknown as (table: AnyTable, name: string) => AnyTable)(table, name);
  const projects = tableOf(engine.name, "projects", projectColumns);
  const owners = tableOf(engine.name, "owners", ownerColumns);
  const chosen = (source: unknown): { from(source: never): unknown } =>
    shape.selection === "all" ? db.select() : db.select(fieldsOf(shape, source as AnyTable) as never);
  switch (shape.source) {
    case "table":
      return selectFrom(projects, chosen(projects));
    case "alias":
    case "alias like the related table": {
      const table = named(projects, shape.source === "alias" ? "p" : "memberships");
      return selectFrom(table, chosen(table));
    }
    case "subquery": {
      const rows = db.select().from(projects).as("s");
      return selectFrom(rows, chosen(rows));
    }
    case "with":
    case "with like the related table": {
      const rows = db.$with(shape.source === "with" ? "mine" : "memberships").as(db.select().from(projects));
      const start = db.with(rows);
      const select = shape.selection === "all" ? start.select() : start.select(fieldsOf(shape, rows as never) as never);
      return selectFrom(rows, select);
    }
    case "inner join":
    case "left join": {
      const joined = selectFrom(projects, chosen(projects)) as Joining;
      const on = eq(owners["project_id"] as never, projects["id"] as never);
      return shape.source === "inner join" ? joined.innerJoin(owners, on) : joined.leftJoin(owners, on);
    }
    case "self-join": {
      const other = named(projects, "q");
      const joined = selectFrom(projects, chosen(projects)) as Joining;
      return joined.innerJoin(other, eq(other["id"] as never, projects["parent_id"] as never));
    }
    case "schema":
    case "subquery with names":
    case "union":
      return null;
  }
}

function selectFrom(source: unknown, select: { from(source: never): unknown }): unknown {
  return select.from(source as never);
}

interface Joining {
  innerJoin(table: AnyTable, on: SQL): unknown;
  leftJoin(table: AnyTable, on: SQL): unknown;
}

function fieldsOf(shape: ShapeCase, table: AnyTable): Fields {
  const column = table["organisation_id"] as unknown as SQLWrapper;
  const raw = isJoin(shape) ? sql`${column}` : sql`organisation_id`;
  const rank = table["rank"] as unknown as SQLWrapper;
  const rawRank = isJoin(shape) ? sql`${rank}` : sql`${sql.raw("rank")}`;
  const forms: Readonly<Record<ShapeCase["organisation"], SQLWrapper>> = {
    bare: column,
    qualified: column,
    renamed: column,
    raw,
    lower: sql`lower(${raw})`,
    coalesce: sql`coalesce(${raw}, 'bolt')`,
    parameter: sql`coalesce(${raw}, ${"bolt"})`,
    case: sql`case when ${raw} = 'bolt' then null else ${raw} end`,
  };
  const ranks: Readonly<Record<ShapeCase["rank"], SQLWrapper>> = {
    bare: rank,
    qualified: rank,
    raw: rawRank,
    negated: sql`- ${rawRank}`,
  };
  return {
    id: table["id"] as unknown as SQLWrapper,
    name: table["name"] as unknown as SQLWrapper,
    parent_id: table["parent_id"] as unknown as SQLWrapper,
    [shape.organisation === "renamed" ? "org" : "organisation_id"]: forms[shape.organisation],
    rank: ranks[shape.rank],
  };
}
