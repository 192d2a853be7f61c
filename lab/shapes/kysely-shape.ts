import { type Expression, sql } from "kysely";
import type { AnyQuery } from "../../src/sql/statements/any-query.ts";
import type { Engine } from "../servers/engines.ts";
import { isJoin, type ShapeCase } from "./shape-case.ts";

const COLUMNS = ["id", "organisation_id", "name", "rank", "parent_id"];

/** Returns the query of a case for Kysely. */
export function kyselyShape(engine: Engine, shape: ShapeCase): AnyQuery {
  const { query, main, other } = from(engine, shape);
  const named = [organisation(shape, main), rank(shape, main)];
  switch (shape.selection) {
    case "all":
      return query.selectAll();
    case "all of the table":
      return query.selectAll(main as never);
    case "names":
      return query.select([
        ...["id", "name", "parent_id"].map((column) => plain(shape, main, column)),
        ...named,
      ] as never);
    case "all, then names":
      return query.selectAll(main as never).select(named as never);
    case "names, then all":
      return query.select(named as never).selectAll(main as never);
    case "all of the joined table":
      if (other === null) return query.selectAll(main as never);
      return query
        .selectAll(other as never)
        .select(["id", "rank", "parent_id"].map((column) => `${main}.${column} as ${column}`) as never);
  }
}

interface From {
  readonly query: AnyQuery;
  /** The name of the projects. */
  readonly main: string;
  /** The name of the joined table. */
  readonly other: string | null;
}

function from(engine: Engine, { source }: ShapeCase): From {
  const { database } = engine;
  const all = database.selectFrom("projects").selectAll();
  switch (source) {
    case "table":
      return fromOf(database.selectFrom("projects"), "projects");
    case "alias":
      return fromOf(database.selectFrom("projects as p"), "p");
    case "alias like the related table":
      return fromOf(database.selectFrom("projects as memberships"), "memberships");
    case "schema":
      return fromOf(database.selectFrom(`${engine.name === "SQLite" ? "main" : engine.address}.projects as p`), "p");
    case "subquery":
      return fromOf(database.selectFrom(all.as("s")), "s");
    case "subquery with names":
      return fromOf(database.selectFrom(database.selectFrom("projects").select(COLUMNS).as("s")), "s");
    case "with":
      return fromOf(database.with("mine", () => all).selectFrom("mine"), "mine");
    case "with like the related table":
      return fromOf(database.with("memberships", () => all).selectFrom("memberships"), "memberships");
    case "union": {
      const few = all.where("id", "<", 9);
      const many = all.where("id", ">=", 9);
      return fromOf(database.selectFrom(few.unionAll(many).as("u")), "u");
    }
    case "inner join":
      return fromOf(
        database.selectFrom("projects").innerJoin("owners", "owners.project_id", "projects.id"),
        "projects",
        "owners",
      );
    case "left join":
      return fromOf(database.selectFrom("projects as p").leftJoin("owners as o", "o.project_id", "p.id"), "p", "o");
    case "self-join":
      return fromOf(database.selectFrom("projects as p").innerJoin("projects as q", "q.id", "p.parent_id"), "p", "q");
  }
}

function fromOf(query: unknown, main: string, other: string | null = null): From {
  return { query: query as AnyQuery, main, other };
}

/** A name that two sources have needs its table. */
function plain(shape: ShapeCase, main: string, column: string): string {
  return isJoin(shape) ? `${main}.${column}` : column;
}

function organisation(shape: ShapeCase, main: string): unknown {
  const column = "organisation_id";
  const name = plain(shape, main, column);
  const reference: Expression<unknown> = isJoin(shape) ? sql.ref(name) : sql.raw(column);
  switch (shape.organisation) {
    case "bare":
      return name;
    case "qualified":
      return `${main}.${column}`;
    case "renamed":
      return `${name} as org`;
    case "raw":
      return sql`${reference}`.as(column);
    case "lower":
      return sql`lower(${reference})`.as(column);
    case "coalesce":
      return sql`coalesce(${reference}, 'bolt')`.as(column);
    case "parameter":
      return sql`coalesce(${reference}, ${"bolt"})`.as(column);
    case "case":
      return sql`case when ${reference} = 'bolt' then null else ${reference} end`.as(column);
  }
}

function rank(shape: ShapeCase, main: string): unknown {
  const name = plain(shape, main, "rank");
  const reference = isJoin(shape) ? sql.ref(name) : sql.raw("rank");
  switch (shape.rank) {
    case "bare":
      return name;
    case "qualified":
      return `${main}.rank`;
    case "raw":
      return sql`${reference}`.as("rank");
    case "negated":
      return sql`- ${reference}`.as("rank");
  }
}
