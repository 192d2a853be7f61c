import { CompiledQuery, sql } from "kysely";
import { type Database, tableHandler } from "../../src/sql/index.ts";

/**
 * Statements that the guard of a database cannot check, each of which must be refused. They read or change the table `projects`,
 * which has rules, or a table that the guard does not name.
 */
export const waysAround: Readonly<Record<string, (database: Database<any>) => Promise<unknown>>> = {
  "an unknown table": (database) => database.selectFrom("secrets").selectAll().execute(),
  "another spelling": (database) => database.selectFrom("Projects").selectAll().execute(),
  "a table with its schema": (database) => database.selectFrom("main.projects").selectAll().execute(),
  "the catalogue": (database) => database.selectFrom("sqlite_master").selectAll().execute(),
  statistics: (database) => database.selectFrom("pg_stats").selectAll().execute(),
  "raw SQL": (database) => sql`select * from projects`.execute(database),
  "raw SQL in the place of a table": (database) =>
    database
      .selectFrom(sql.raw("projects").as("p") as never)
      .selectAll()
      .execute(),
  "sql.table in the place of a table": (database) =>
    database
      .selectFrom(sql.table("projects").as("p") as never)
      .selectAll()
      .execute(),
  "a subquery in raw SQL": (database) =>
    database.selectFrom("projects").selectAll().where(sql<boolean>`id in (select id from projects)`).execute(),
  "a word in two fragments": (database) =>
    database
      .selectFrom("projects")
      .selectAll()
      .where(sql<boolean>`id in (${sql.raw("sel")}${sql.raw("ect 2")})`)
      .execute(),
  "raw SQL that leaves its parentheses": (database) =>
    database.selectFrom("projects").selectAll().where(sql<boolean>`1 = 1) or (1 = 1`).execute(),
  "a comment": (database) => database.selectFrom("projects").selectAll().where(sql<boolean>`1 = 1 --`).execute(),
  "FROM in the selection": (database) =>
    database.selectFrom("countries").select(sql`name from projects`.as("x")).execute(),
  "a function that executes SQL": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => eb.fn("query_to_xml", [sql.lit("select 1")]).as("x"))
      .execute(),
  "the name of a function with more in it": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => eb.fn("id from projects --", []).as("x"))
      .execute(),
  "a quote inside a dollar quote": (database) =>
    database
      .selectFrom("countries")
      .select(sql`$é$'$é$ || (select name from projects limit 1) || $é$'$é$`.as("x"))
      .execute(),
  "a quote inside backticks": (database) =>
    database
      .selectFrom("countries")
      .select(sql.raw("`a'`, (select name from projects limit 1), `b'`").as("x"))
      .execute(),
  "the alias of a related table in a list": async (database) => {
    const query = database
      .selectFrom("countries")
      .select((eb) => eb.selectFrom("projects as ~related_i").select("name").limit(1).as("name"));
    return tableHandler(query as never).getItems(0, 1);
  },
  "the alias of a related table": (database) => database.selectFrom("projects as ~related_i").selectAll().execute(),
  "a compiled raw query": (database) => database.executeQuery(CompiledQuery.raw("select * from projects")),
  "a changed compiled query": (database) => {
    const compiled = database.selectFrom("projects").selectAll().compile();
    return database.executeQuery({ ...compiled, sql: "select * from projects", parameters: [] });
  },
  "a statement of the executor": (database) =>
    database.getExecutor().executeQuery(CompiledQuery.raw("select * from projects")),
  "a connection of the executor": (database) =>
    database
      .getExecutor()
      .provideConnection((connection) => connection.executeQuery(CompiledQuery.raw("select * from projects"))),
  DDL: (database) => database.schema.dropTable("projects").execute(),
  TRUNCATE: (database) => sql`truncate projects`.execute(database),
  REPLACE: (database) => database.replaceInto("projects").values({ id: 2, org: 1, name: "" }).execute(),
  "INSERT OR REPLACE": (database) =>
    database.insertInto("projects").orReplace().values({ id: 2, org: 1, name: "" }).execute(),
  MERGE: (database) =>
    database.mergeInto("projects").using("tasks", "tasks.id", "projects.id").whenMatched().thenDelete().execute(),
  "a stream of raw SQL": async (database) => {
    for await (const row of database.getExecutor().stream(CompiledQuery.raw("select * from projects"), 1)) return row;
    return null;
  },
  "Portico's own tables": (database) => database.selectFrom("portico_entries").selectAll().execute(),
};
