import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDatabase, SqliteStatement } from "kysely";

/** `node:sqlite` as Kysely's dialect wants it. Integers come back as numbers, or as bigints beyond what those hold. */
export function nodeSqlite(database: DatabaseSync, onStatement: (text: string) => void = () => {}): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (text) => {
      onStatement(text);
      const statement = database.prepare(text);
      statement.setReadBigInts(true);
      return new PreparedStatement(statement, /^\s*(?:select|with|explain|pragma)|returning/i.test(text));
    },
  };
}

class PreparedStatement implements SqliteStatement {
  readonly reader: boolean;
  readonly #statement: StatementSync;
  constructor(statement: StatementSync, reader: boolean) {
    this.#statement = statement;
    this.reader = reader;
  }
  all(parameters: readonly unknown[]): unknown[] {
    return this.#statement
      .all(...(parameters as never[]))
      .map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
          ]),
        ),
      );
  }
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#statement.run(...(parameters as never[]));
  }
  iterate(): IterableIterator<unknown> {
    throw new Error("not needed here");
  }
}
