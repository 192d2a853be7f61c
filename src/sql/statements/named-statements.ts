import type { PostgresPool, PostgresPoolClient } from "kysely";
import { unavailable } from "../../core/unavailable.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { preparedName, renew } from "./prepared-name.ts";

/** A named query of `pg`. */
interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Wraps a pool of `pg` so that connections prepare the statements of table handlers once, by name, instead of parsing
 * them each time. If a proxy shares connections between clients and loses the statements (PgBouncer in transaction mode
 * without `max_prepared_statements`), the pool stops using names with the first statement that is lost, and logs a warning.
 *
 * @example
 * ```ts
 * import { Kysely, PostgresDialect } from "kysely";
 * import { Pool } from "pg";
 * import { namedStatements } from "portico/sql";
 *
 * const pool = namedStatements(new Pool({ connectionString: "postgres://localhost/shop" }));
 * const database = new Kysely<{ books: { id: string } }>({ dialect: new PostgresDialect({ pool }) });
 * ```
 */
export function namedStatements(pool: PostgresPool): PostgresPool {
  // Kysely recognises a connection by object identity.
  const named = new WeakMap<PostgresPoolClient, PostgresPoolClient>();
  const names: Names = { areLost: false };
  return new Proxy(pool, {
    get(target, property) {
      if (property !== "connect") return bound(target, property);
      return async (): Promise<PostgresPoolClient> => {
        const client = await target.connect();
        const known = named.get(client) ?? withNames(client, names);
        named.set(client, known);
        return known;
      };
    },
  });
}

/** Whether the connections of a pool keep named statements. */
interface Names {
  areLost: boolean;
}

function withNames(client: PostgresPoolClient, names: Names): PostgresPoolClient {
  const sent = new SentInTransaction();
  const named = query.bind(null, client, names, sent);
  return new Proxy(client, {
    get(target, property) {
      return property === "query" ? named : bound(target, property);
    },
  });
}

function query(
  client: PostgresPoolClient,
  names: Names,
  sent: SentInTransaction,
  text: unknown,
  values?: readonly unknown[],
): unknown {
  const run = client.query.bind(client) as (query: unknown, values?: readonly unknown[]) => unknown;
  const opening = sent.note(text);
  const name = typeof text === "string" && !names.areLost ? preparedName(text) : undefined;
  if (name === undefined || typeof text !== "string") return run(text, values);
  const named = run({ name, text, values: values ?? [] } satisfies NamedQuery) as Promise<unknown>;
  return named.catch(async (error: unknown) => {
    if (isLost(error, name)) {
      giveUp(names);
      // The server has not executed the statement, and it has undone nothing else.
      const again = opening();
      if (again === null) throw unavailable("A pooler lost a named statement of the transaction", error);
      for (const statement of again) await run(statement);
      return run(text, values);
    }
    if (!isStale(error)) throw error;
    renew(text, name);
    // Inside a transaction this fails too, because the first error has ended it.
    return run(text, values);
  });
}

/** Whether the statement was prepared on another connection to the server than the one that a pooler chose now. */
function isLost(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return (code === "26000" || code === "42P05") && String(message).includes(name);
}

function giveUp(names: Names): void {
  if (names.areLost) return;
  names.areLost = true;
  const log = currentContext()?.log;
  if (log === undefined) process.emitWarning(LOST);
  else log.warn({}, LOST);
}

const LOST =
  "a pooler between Portico and PostgreSQL loses named statements, so this process no longer uses them: set namedStatements: false, " +
  "or max_prepared_statements of PgBouncer 1.21 or later";

/** Whether a migration changed the columns of `select *` after the statement was prepared. */
function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { readonly code?: unknown; readonly routine?: unknown };
  return code === "0A000" && routine === "RevalidateCachedQuery";
}

function bound(target: object, property: string | symbol): unknown {
  const value: unknown = Reflect.get(target, property, target);
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}

/** Follows the transactions of one connection by the statements that are sent on it. */
class SentInTransaction {
  #count = 0;
  /** The statement that opened the transaction, and the number of statements that were sent up to it. */
  #opening: { readonly text: string; readonly count: number } | null = null;

  /**
   * Notes a statement that is about to be sent. If it fails, the returned function says how to bring the connection back to
   * where the statement was sent: with no statements outside a transaction, and by starting the transaction again if this was
   * its first statement. Otherwise it returns `null`, because earlier statements of the transaction are undone.
   */
  note(statement: unknown): () => readonly string[] | null {
    const text = typeof statement === "string" ? statement : "";
    const count = ++this.#count;
    if (/^\s*(?:begin|start\s+transaction)\b/i.test(text)) this.#opening = { text, count };
    else if (/^\s*(?:commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i.test(text))
      this.#opening = null;
    const opening = this.#opening;
    return () => {
      if (opening === null) return [];
      const isAlone = count === opening.count + 1 && this.#count === count;
      return isAlone && !opening.text.includes(";") ? ["rollback", opening.text] : null;
    };
  }
}
