import { currentContext } from "../kernel/context/current-context.ts";
import { currentField, trackFields } from "../kernel/hooks/current-field.ts";
import { onListRead, type ReadList } from "../pagination/pages/note-list.ts";
import { onStatementSent, type WatchedDatabase } from "../sql/database/on-statement-sent.ts";

/** Statements with the same text, sent for the same field or route. */
export interface WatchedStatement {
  /**
   * The GraphQL field that sent them, such as `Author.books`, or else the route, such as `GET /books`; `null` outside a
   * request. A batch of a loader belongs to the field that loaded its first key.
   */
  readonly place: string | null;
  /** The text without the values of its parameters. */
  readonly sql: string;
  readonly count: number;
  /** Whether the place is a field that was declared with `connection`. */
  readonly isConnection: boolean;
}

/** The statements of a database since the watch started, or since its last `reset`. */
export class StatementWatch implements Disposable {
  readonly #database: WatchedDatabase;
  readonly #seen = new Map<string, WatchedStatement>();
  readonly #lists: ReadList[] = [];
  readonly #stop: readonly (() => void)[];

  /** @internal */
  constructor(database: WatchedDatabase) {
    this.#database = database;
    this.#stop = [
      onStatementSent(database, ({ sql }) => this.#note(sql)),
      trackFields(),
      onListRead((list) => {
        this.#lists.push({ ...list, place: placeOf(list) });
      }),
    ];
  }

  /** @internal */
  get database(): WatchedDatabase {
    return this.#database;
  }

  /** @internal The lists that were read. */
  get lists(): readonly ReadList[] {
    return this.#lists;
  }

  /** The number of statements. */
  get count(): number {
    return this.statements.reduce((sum, { count }) => sum + count, 0);
  }

  /** The statements by place and text, in the order in which they were first sent. */
  get statements(): readonly WatchedStatement[] {
    return [...this.#seen.values()];
  }

  /** Returns the number of statements of a field or a route. */
  countOf(place: string): number {
    return this.statements.reduce((sum, statement) => sum + (statement.place === place ? statement.count : 0), 0);
  }

  /** Forgets the statements and the lists so far. */
  reset(): void {
    this.#seen.clear();
    this.#lists.length = 0;
  }

  /** Stops watching. `using` does so at the end of its block. */
  stop(): void {
    for (const stop of this.#stop) stop();
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #note(sql: string): void {
    const field = currentField();
    const place = field?.coordinate ?? routeOf();
    const key = JSON.stringify([place, sql]);
    const count = (this.#seen.get(key)?.count ?? 0) + 1;
    this.#seen.set(key, { place, sql, count, isConnection: field?.isConnection ?? false });
  }
}

/**
 * Counts the statements of a database, per GraphQL field and per route, until `stop` is called. It takes the result of
 * `openDatabase` or any other Kysely instance. In production, fields are not tracked, so statements belong to routes.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { openDatabase } from "portico/sql";
 * import { testClient, watchStatements } from "portico/testing";
 *
 * const database = openDatabase("sqlite::memory:");
 * const app = new PorticoApp();
 * app.get("/users", () => database.selectFrom("users").select("username").execute());
 *
 * const watch = watchStatements(database);
 * await testClient(app).get("/users");
 * console.log(watch.countOf("GET /users")); // 1
 * watch.stop();
 * ```
 */
export function watchStatements(database: WatchedDatabase): StatementWatch {
  return new StatementWatch(database);
}

/** The place of a list in a route is its path. */
function placeOf({ place }: ReadList): string {
  return place.startsWith("/") ? (routeOf() ?? place) : place;
}

function routeOf(): string | null {
  const ctx = currentContext();
  return ctx === null ? null : `${ctx.exchange.method} ${ctx.pattern}`;
}
