import type { PostgresPool, PostgresPoolClient } from "kysely";
import { renew, statementName } from "./statement-name.ts";

/** A named query of `pg`. */
interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Wraps a pool of `pg` so that connections prepare the statements of table handlers once, by name, instead of parsing
 * them each time. Do not use it if a proxy shares one connection between clients (PgBouncer below 1.21 in transaction
 * mode).
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
  return new Proxy(pool, {
    get(target, property) {
      if (property !== "connect") return bound(target, property);
      return async (): Promise<PostgresPoolClient> => {
        const client = await target.connect();
        const known = named.get(client) ?? withNames(client);
        named.set(client, known);
        return known;
      };
    },
  });
}

function withNames(client: PostgresPoolClient): PostgresPoolClient {
  const named = query.bind(null, client);
  return new Proxy(client, {
    get(target, property) {
      return property === "query" ? named : bound(target, property);
    },
  });
}

function query(client: PostgresPoolClient, text: unknown, values?: readonly unknown[]): unknown {
  const run = client.query.bind(client) as (query: unknown, values?: readonly unknown[]) => unknown;
  const name = typeof text === "string" ? statementName(text) : undefined;
  if (name === undefined || typeof text !== "string") return run(text, values);
  const named = run({ name, text, values: values ?? [] } satisfies NamedQuery) as Promise<unknown>;
  return named.catch((error: unknown) => {
    if (!isStale(error)) throw error;
    renew(text, name);
    // Inside a transaction this fails too, because the first error has ended it.
    return run(text, values);
  });
}

/** Whether a migration changed the columns of `select *` after the statement was prepared. */
function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { readonly code?: unknown; readonly routine?: unknown };
  return code === "0A000" && routine === "RevalidateCachedQuery";
}

function bound(target: object, property: string | symbol): unknown {
  const value: unknown = Reflect.get(target, property, target);
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}
