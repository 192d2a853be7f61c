import type { CompiledQuery, Kysely } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";

/** The parts of a Kysely instance that statements are watched through. The result of `openDatabase` is one. */
export interface WatchedDatabase {
  readonly isTransaction: boolean;
  getExecutor(): { readonly adapter: object };
}

/** Called in the async context of the code that sends the statement, before it is sent. */
export type StatementListener = (statement: CompiledQuery) => void;

type Executor = ReturnType<Kysely<any>["getExecutor"]>;
type Executors = Pick<Executor, "executeQuery" | "stream">;

/** The listeners of a database, by its adapter, which its transactions and its copies with plugins share. */
const listeners = new Map<unknown, Set<StatementListener>>();
const originals = new Map<Executors, Executors>();

/**
 * Calls a listener for every statement of a Kysely instance, including those of its transactions. The start and the end
 * of a transaction are not statements. Returns a function that stops it.
 *
 * Kysely logs statements only if it was created with `log`, so its executors are replaced while there are listeners.
 */
export function onStatementSent(database: WatchedDatabase, listener: StatementListener): () => void {
  if (typeof (database as WatchedDatabase | null)?.getExecutor !== "function" || database.isTransaction)
    throw new ConfigurationError("watchStatements", "called with a database, not a transaction", database);
  const executor = database.getExecutor() as Executor;
  const { adapter } = executor;
  const known = listeners.get(adapter) ?? new Set();
  listeners.set(adapter, known.add(listener));
  replaceExecutors(executor);
  return () => {
    known.delete(listener);
    if (known.size === 0 && listeners.get(adapter) === known) listeners.delete(adapter);
    if (listeners.size === 0) restoreExecutors();
  };
}

/** Replaces the methods on the prototype, because each query with a plugin has its own executor. */
function replaceExecutors(executor: Executor): void {
  const home = ownerOf(executor, "executeQuery") as Executors;
  if (originals.has(home)) return;
  const { executeQuery, stream } = home;
  originals.set(home, { executeQuery, stream });
  home.executeQuery = function (this: Executor, ...call: Parameters<typeof executeQuery>) {
    tell(this.adapter, call[0]);
    return Reflect.apply(executeQuery, this, call);
  } as typeof executeQuery;
  home.stream = function (this: Executor, ...call: Parameters<typeof stream>) {
    tell(this.adapter, call[0]);
    return Reflect.apply(stream, this, call);
  } as typeof stream;
}

function restoreExecutors(): void {
  for (const [home, methods] of originals) Object.assign(home, methods);
  originals.clear();
}

function tell(adapter: unknown, statement: CompiledQuery): void {
  for (const listener of listeners.get(adapter) ?? []) listener(statement);
}

function ownerOf(object: object, member: string): object {
  let owner: object | null = object;
  while (owner !== null && !Object.hasOwn(owner, member)) owner = Object.getPrototypeOf(owner) as object | null;
  return owner ?? object;
}
