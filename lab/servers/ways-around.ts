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
  "text in quotes inside quotes": (database) =>
    database
      .selectFrom("countries")
      .select(sql`'${sql.lit(" || (select name from projects limit 1) || ")}'`.as("x"))
      .execute(),
  "a name in quotes inside quotes": (database) =>
    database
      .selectFrom("countries")
      .select(sql`'${sql.id("' || (select name from projects limit 1) || '")}'`.as("x"))
      .execute(),
  "a function with a quoted name": (database) =>
    database.selectFrom("countries").select(sql`"query_to_xml"('select 1', true, true, '')`.as("x")).execute(),
  "a function whose name is a parameter": (database) =>
    database
      .selectFrom("countries")
      .select(sql`${sql.id("query_to_xml")}(${"select 1"}, true, true, '')`.as("x"))
      .execute(),
  "a quoted name before a list": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => sql`"query_to_xml"${eb.tuple(sql.lit("select 1"), sql.lit(true))}`.as("x"))
      .execute(),
  "a function as an operator": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => eb(sql`1`, sql`, "query_to_xml"`, eb.tuple(sql.lit("select 1"), sql.lit(true))).as("x"))
      .execute(),
  "a name as an operator": (database) =>
    database
      .selectFrom("countries")
      .select((eb) =>
        eb(sql`1 +`, eb.ref("query_to_xml" as never), eb.tuple(sql.lit("select 1"), sql.lit(true))).as("x"),
      )
      .execute(),
  "a function before the first column": (database) =>
    database
      .selectFrom("countries")
      .modifyFront(sql`"query_to_xml"`)
      .select((eb) => eb.tuple(sql.lit("select 1"), sql.lit(true)).as("x" as never))
      .execute(),
  "a function of the database that the guard doesn't know": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => eb.fn("names_of_projects", [sql.lit(2)]).as("x"))
      .execute(),
  "a function with its schema": (database) =>
    database.selectFrom("countries").select(sql`public . lower('x')`.as("x")).execute(),
  "a function with its schema in quotes": (database) =>
    database.selectFrom("countries").select(sql`"pg_catalog".pg_read_file('x')`.as("x")).execute(),
  "a function whose schema is a parameter": (database) =>
    database
      .selectFrom("countries")
      .select(sql`${sql.id("public")}.lower('x')`.as("x"))
      .execute(),
  "a function before an expression in parentheses": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => sql`pg_ls_dir${eb(eb.parens(sql.lit(".")), "=", sql.lit("x"))}`.as("x"))
      .execute(),
  "a function as the end of an operator": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => eb(sql`1`, sql`+ lo_import`, eb.parens(sql.lit("x"))).as("x"))
      .execute(),
  "a bare name before the first column": (database) =>
    database
      .selectFrom("countries")
      .modifyFront(sql`pg_ls_dir`)
      .select((eb) => eb.tuple(sql.lit("."), sql.lit(true)).as("x" as never))
      .execute(),
  "an operator with its schema": (database) =>
    database.selectFrom("countries").select(sql`1 operator(public.+) 2`.as("x")).execute(),
  "a name with escapes": (database) =>
    database.selectFrom("countries").select(sql`U&"!006co_get" uescape '!' (1)`.as("x")).execute(),
  "a name behind text and a dot": (database) =>
    database.selectFrom("countries").select(sql`('select to_tsvector(name) from projects').ts_stat`.as("x")).execute(),
  "a name behind a parameter and a dot": (database) =>
    database.selectFrom("countries").select(sql`${"select to_tsvector(name)"}.ts_stat`.as("x")).execute(),
  "a name behind an element of an array and a dot": (database) =>
    database.selectFrom("countries").select(sql`(array['x'])[1] . ts_stat`.as("x")).execute(),
  "a name behind an expression and a dot": (database) =>
    database
      .selectFrom("countries")
      .select((eb) => sql`${eb.parens(sql.lit("x"))}."ts_stat"`.as("x"))
      .execute(),
  "a function that loads code": (database) =>
    database.selectFrom("countries").select(sql`load_extension('x')`.as("x")).execute(),
  "a function that reads files": (database) => database.selectNoFrom(sql`readfile('/etc/passwd')`.as("x")).execute(),
  "a table function of the catalogue": (database) =>
    database
      .selectFrom((eb) => eb.fn("pragma_table_info", [sql.lit("projects")]).as("p") as never)
      .selectAll()
      .execute(),
  "a function of a large object": (database) =>
    database
      .selectFrom((eb) => eb.fn("lo_get", [sql.lit(1)]).as("p") as never)
      .selectAll()
      .execute(),
  "the next value of a sequence": (database) =>
    database.selectNoFrom(sql`nextval('projects_id_seq')`.as("x")).execute(),
  "the setting of the search path": (database) =>
    database.selectFrom("countries").select(sql`set_config('search_path', 'other', true)`.as("x")).execute(),
  "FROM as the name of a function": (database) =>
    database.selectNoFrom((eb) => sql`name ${eb.fn("from", [eb.ref("projects" as never)])}`.as("x")).execute(),
  "FROM after a number": (database) => database.selectNoFrom(sql`name, 1from projects`.as("x")).execute(),
  "FROM after a column named distinct": (database) =>
    database.selectNoFrom(sql`name as distinct from projects`.as("x")).execute(),
  "tables in an alias": (database) =>
    database
      .selectFrom((eb) => eb.fn("json_each", [sql.lit("[1]")]).as(sql`c, projects` as never))
      .selectAll()
      .execute(),
  "a name in parentheses in the place of a table": (database) =>
    database
      .selectFrom((eb) => eb.parens(eb.ref("projects" as never)).as("p") as never)
      .selectAll()
      .execute(),
  "raw SQL in parentheses in the place of a table": (database) =>
    database
      .selectFrom((eb) => eb.parens(sql`projects`).as("p") as never)
      .selectAll()
      .execute(),
  "a table at the end of a query": (database) =>
    database.selectFrom("countries").selectAll().modifyEnd(sql`, projects`).execute(),
  "a condition at the end of a query": (database) =>
    database.selectFrom("projects").selectAll().modifyEnd(sql`or true`).execute(),
  "a condition in two parts at the end of a query": (database) =>
    database.selectFrom("projects").selectAll().modifyEnd(sql`or`).modifyEnd(sql`true`).execute(),
  "a condition at the end of an update": (database) =>
    database.updateTable("projects").set({ name: "x" }).modifyEnd(sql`or true`).execute(),
  "a condition at the end of a deletion": (database) =>
    database.deleteFrom("projects").modifyEnd(sql`or true`).execute(),
  "a condition at the end of an upsert": (database) =>
    database
      .insertInto("projects")
      .values({ id: 2, org: 1, name: "x" })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ org: 1 }))
      .modifyEnd(sql`or true`)
      .execute(),
  "a zero character": (database) =>
    database
      .updateTable("projects")
      .set({ name: sql.raw("'x' \0") })
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
