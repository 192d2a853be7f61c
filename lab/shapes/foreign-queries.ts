import { type Kysely, sql } from "kysely";
import type { Engine, EngineName } from "../servers/engines.ts";

/**
 * A query as an application may have it. Its rows have `id`, `organisation_id`, `name`, `rank` and `parent_id`. What a list over
 * it must have is found by running it alone: JavaScript then applies the rule, the filter and the order to its rows.
 */
interface ForeignQuery {
  readonly name: string;
  /** The engines that have such a query. @default all */
  readonly on?: readonly EngineName[];
  /** The error that some lists over it, or all of them, fail with. */
  readonly refused?: RegExp;
  readonly of: (database: Kysely<any>, engine: Engine) => unknown;
}

// PostgreSQL compares no number with a text.
const NOT_A_NUMBER =
  /operator does not exist: integer (?:=|~~|!~~) (?:text|unknown)|invalid input syntax for type integer/;
const FIELDS = ["id", "organisation_id", "name", "rank", "parent_id"] as const;
const OTHERS = ["id", "name", "rank", "parent_id"] as const;
const named = (table: string, names: readonly string[] = FIELDS): string[] => names.map((name) => `${table}.${name}`);
const as = (text: string, name: string) => sql.raw(text).as(name);

export const foreignQueries: readonly ForeignQuery[] = [
  // Names that mean something else than they say.
  {
    name: "two columns that swap their names",
    of: (db) =>
      db
        .selectFrom("projects")
        .select(["id", "rank", "parent_id", "name as organisation_id", "organisation_id as name"]),
  },
  {
    name: "two columns of a subquery that swap their names",
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select(["id", "rank", "parent_id", "name as organisation_id", "organisation_id as name"])
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "numbers that swap their names",
    of: (db) =>
      db
        .selectFrom("projects")
        .select(["id", "organisation_id", "name", "parent_id as rank", sql`coalesce(rank, 1)`.as("parent_id")]),
  },
  {
    name: "the id of the joined table under another name",
    of: (db) =>
      db
        .selectFrom("projects as p")
        .innerJoin("owners as o", "o.project_id", "p.id")
        .select(["o.id as id", "o.organisation_id as organisation_id", "p.name", "p.rank", "p.parent_id"]),
  },
  {
    name: "an alias that is a reserved word",
    of: (db) => db.selectFrom("projects as order").select(named("order")),
  },
  {
    name: "an alias with spaces and capitals",
    of: (db) => db.selectFrom("projects as The Projects").select(named("The Projects")),
  },
  {
    name: "an alias like those of a condition",
    of: (db) => db.selectFrom("projects as ~related_i").select(named("~related_i")),
  },
  {
    name: "an alias like that of a count",
    of: (db) => db.selectFrom("projects as ~counted").selectAll(),
  },
  {
    name: "an alias like another table",
    of: (db) => db.selectFrom("projects as owners").selectAll("owners"),
  },
  {
    name: "a joined table called like the related one",
    of: (db) =>
      db
        .selectFrom("projects as p")
        .leftJoin("owners as memberships", "memberships.project_id", "p.id")
        .select([...named("p", OTHERS), "memberships.organisation_id"]),
  },
  {
    name: "the related table, joined",
    of: (db) =>
      db.selectFrom("projects").innerJoin("memberships", "memberships.id", "projects.id").select(named("projects")),
  },
  {
    name: "the related table's column, joined",
    of: (db) =>
      db
        .selectFrom("projects")
        .innerJoin("memberships", "memberships.id", "projects.parent_id")
        .select([...named("projects", OTHERS), "memberships.organisation_id"]),
  },
  {
    name: "the related table's rows as the list",
    of: (db) =>
      db
        .selectFrom("memberships")
        .select(["id", "organisation_id", "user_id as name", "id as rank", sql<number>`1`.as("parent_id")]),
  },
  // Sources.
  {
    name: "two tables without a join",
    of: (db) =>
      db.selectFrom(["projects", "owners"]).whereRef("owners.project_id", "=", "projects.id").select(named("projects")),
  },
  {
    name: "a right join",
    on: ["PostgreSQL", "MariaDB"],
    of: (db) =>
      db
        .selectFrom("owners as o")
        .rightJoin("projects as p", "p.id", "o.project_id")
        .select([...named("p", OTHERS), "o.organisation_id"]),
  },
  {
    name: "a full join",
    on: ["PostgreSQL"],
    of: (db) =>
      db
        .selectFrom("owners as o")
        .fullJoin("projects as p", "p.id", "o.project_id")
        .select([...named("p", OTHERS), "o.organisation_id"]),
  },
  {
    name: "a join with a subquery",
    of: (db) =>
      db
        .selectFrom("projects as p")
        .innerJoin(
          db.selectFrom("owners").select(["project_id", "organisation_id as org"]).as("o"),
          "o.project_id",
          "p.id",
        )
        .select([...named("p", OTHERS), "o.org as organisation_id"]),
  },
  {
    name: "a lateral join",
    on: ["PostgreSQL"],
    of: (db) =>
      db
        .selectFrom("projects as p")
        .innerJoinLateral(
          (eb: any) =>
            eb
              .selectFrom("owners")
              .whereRef("owners.project_id", "=", "p.id")
              .select("organisation_id")
              .as("memberships"),
          (join: any) => join.onTrue(),
        )
        .select([...named("p", OTHERS), "memberships.organisation_id"] as never),
  },
  {
    name: "raw SQL as the source",
    of: (db) => db.selectFrom(sql`(select * from projects)`.as("memberships")).select([...FIELDS]),
  },
  {
    name: "raw SQL as the whole source",
    of: (db) => db.selectFrom(sql`(select * from projects)`.as("p") as never).selectAll(),
  },
  {
    name: "a recursive table",
    of: (db) =>
      db
        .withRecursive("tree", (on: any) =>
          on
            .selectFrom("projects")
            .select([...FIELDS])
            .where("id", "=", 1)
            .union(on.selectFrom("projects as p").innerJoin("tree as t", "p.id", sql`t.id + 1`).select(named("p"))),
        )
        .selectFrom("tree")
        .selectAll(),
  },
  {
    name: "a table of WITH with names for its columns",
    of: (db) =>
      db
        .with("mine(id, organisation_id, name, rank, parent_id)", (on: any) =>
          on.selectFrom("projects").select(["id", "name as a", "organisation_id as b", "rank as c", "parent_id as d"]),
        )
        .selectFrom("mine")
        .selectAll(),
  },
  {
    name: "a table of WITH over another",
    of: (db) =>
      db
        .with("first", (on: any) => on.selectFrom("projects").selectAll())
        .with("second", (on: any) => on.selectFrom("first").select([...OTHERS, "organisation_id"]))
        .selectFrom("second as s")
        .selectAll("s"),
  },
  {
    name: "a table of WITH inside a subquery, called like the related one",
    of: (db) =>
      db
        .selectFrom(
          db
            .with("memberships", (on: any) => on.selectFrom("projects").selectAll())
            .selectFrom("memberships")
            .selectAll()
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "a table of WITH called like the related one in capitals",
    on: ["MariaDB", "SQLite"],
    refused: /WITH, which hides/,
    of: (db) =>
      db
        .with("MEMBERSHIPS", (on: any) => on.selectFrom("projects").selectAll())
        .selectFrom("MEMBERSHIPS as p")
        .selectAll(),
  },
  // Rows that are put together before the list has them.
  {
    name: "distinct rows",
    refused: /DISTINCT/,
    of: (db) =>
      db
        .selectFrom("projects")
        .select([...FIELDS])
        .distinct(),
  },
  {
    name: "distinct rows of a subquery",
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select([...FIELDS])
            .distinct()
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "groups",
    refused: /GROUP BY/,
    of: (db) =>
      db
        .selectFrom("projects")
        .select([sql`min(id)`.as("id"), sql`max(organisation_id)`.as("organisation_id"), "parent_id"])
        .groupBy("parent_id"),
  },
  {
    name: "groups of a subquery",
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select((eb: any) => [
              eb.fn.min("id").as("id"),
              eb.fn.min("organisation_id").as("organisation_id"),
              eb.fn.max("name").as("name"),
              eb.fn.max("rank").as("rank"),
              "parent_id",
            ])
            .groupBy("parent_id")
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "a numbering in a subquery",
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select([
              ...OTHERS.filter((name) => name !== "rank"),
              "organisation_id",
              as("row_number() over (order by id desc)", "rank"),
            ])
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "an intersection in a subquery",
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .selectAll()
            .intersect(db.selectFrom("projects").selectAll().where("id", ">", 3))
            .as("p"),
        )
        .selectAll("p"),
  },
  {
    name: "the ten first rows of a subquery",
    of: (db) => db.selectFrom(db.selectFrom("projects").selectAll().orderBy("id").limit(10).as("p")).selectAll(),
  },
  // Conditions of its own.
  {
    name: "raw alternatives in its condition",
    of: (db) => db.selectFrom("projects").selectAll().where(sql<boolean>`id < 4 or id > 9`),
  },
  {
    name: "a correlated condition with names of another table",
    of: (db) =>
      db
        .selectFrom("projects")
        .selectAll()
        .where(
          sql<boolean>`exists (select 1 from owners where project_id = projects.id and organisation_id is not null)`,
        ),
  },
  // Computed columns.
  {
    name: "a column from a correlated subquery",
    of: (db) =>
      db
        .selectFrom("projects")
        .select([...OTHERS])
        .select((eb: any) =>
          eb
            .selectFrom("owners")
            .whereRef("owners.project_id", "=", "projects.id")
            .select("owners.organisation_id")
            .as("organisation_id"),
        ),
  },
  {
    name: "a column from raw SQL over the related table",
    of: (db) =>
      db
        .selectFrom("projects")
        .select([
          ...OTHERS,
          as("(select organisation_id from memberships where memberships.id = parent_id)", "organisation_id"),
        ]),
  },
  {
    name: "a column from the names of the related table",
    of: (db) =>
      db
        .selectFrom("projects")
        .select([
          ...OTHERS,
          as("(select max(user_id) from memberships where organisation_id = 'acme')", "organisation_id"),
        ]),
  },
  {
    name: "a number as the organisation",
    refused: NOT_A_NUMBER,
    of: (db) => db.selectFrom("projects").select([...OTHERS, "parent_id as organisation_id"]),
  },
  {
    name: "a number as the organisation, of a subquery",
    refused: NOT_A_NUMBER,
    of: (db) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select([...OTHERS, "parent_id as organisation_id"])
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "a collation that ignores case",
    of: (db, { name }) =>
      db
        .selectFrom("projects")
        .select([
          ...OTHERS,
          as(
            name === "PostgreSQL"
              ? 'organisation_id collate "und-x-icu"'
              : name === "MariaDB"
                ? "convert(organisation_id using utf8mb4) collate utf8mb4_general_ci"
                : "organisation_id collate nocase",
            "organisation_id",
          ),
        ]),
  },
  {
    name: "a collation that ignores case, in a subquery",
    on: ["SQLite", "MariaDB"],
    of: (db, { name }) =>
      db
        .selectFrom(
          db
            .selectFrom("projects")
            .select([
              ...OTHERS,
              as(
                name === "MariaDB"
                  ? "convert(organisation_id using utf8mb4) collate utf8mb4_general_ci"
                  : "organisation_id collate nocase",
                "organisation_id",
              ),
            ])
            .as("p"),
        )
        .selectAll(),
  },
  {
    name: "bytes as the organisation",
    on: ["MariaDB"],
    of: (db) => db.selectFrom("projects").select([...OTHERS, as("cast(parent_id as char(3))", "organisation_id")]),
  },
  {
    name: "a sum as text",
    of: (db, { name }) =>
      db
        .selectFrom("projects")
        .select([...OTHERS, as(`cast(parent_id + 0 as ${name === "MariaDB" ? "char" : "text"})`, "organisation_id")]),
  },
  {
    name: "a negated comparison without parentheses",
    of: (db) =>
      db
        .selectFrom("projects")
        .select([...OTHERS.filter((name) => name !== "rank"), "organisation_id", as("parent_id - 2", "rank")]),
  },
  {
    name: "a choice between two tables",
    of: (db) =>
      db
        .selectFrom("projects as p")
        .leftJoin("owners as o", "o.project_id", "p.id")
        .select([...named("p", OTHERS), sql`coalesce(o.organisation_id, p.organisation_id)`.as("organisation_id")]),
  },
  {
    name: "a choice between two tables without their names",
    of: (db) =>
      db
        .selectFrom("projects as p")
        .leftJoin("owners as o", "o.project_id", "p.id")
        .select([
          ...named("p", OTHERS),
          as("case when title = 'chief' then o.organisation_id else p.organisation_id end", "organisation_id"),
        ]),
  },
];
