import type {
  CompiledQuery,
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  QueryCompiler,
  QueryId,
  QueryResult,
  RootOperationNode,
} from "kysely";
import { isInstance } from "../../core/describe-error.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { PermissionDenied } from "../../kernel/exceptions/permission-denied.ts";
import { isTrusted } from "../statements/is-trusted.ts";
import { checkCatalogue } from "./check-catalogue.ts";
import type { Guard, GuardedStatement } from "./guard.ts";
import type { GuardedResult } from "./guard-transformer.ts";
import { policiesOf } from "./policies-of.ts";
import { SYSTEM } from "./policy-expression.ts";
import { PolicySession } from "./policy-session.ts";
import { CHECK, isRaised, ROW_ID } from "./raising-check.ts";
import { unguarded } from "./unguarded.ts";

/**
 * A dialect whose compiler adds the rules of a guard, and whose connections execute nothing else. Every way to the database
 * passes it: handles with and without plugins, transactions, and compiled queries.
 */
export class GuardedDialect implements Dialect {
  readonly #inner: Dialect;
  readonly #guard: Guard;

  constructor(inner: Dialect, guard: Guard) {
    this.#inner = inner;
    this.#guard = guard;
  }

  createDriver(): Driver {
    return new GuardedDriver(this.#inner.createDriver(), this.#guard, this.#inner.createQueryCompiler());
  }
  createQueryCompiler(): QueryCompiler {
    const compiler = this.#inner.createQueryCompiler();
    return {
      compileQuery: (node: RootOperationNode, id: QueryId) => this.#guard.compile(node, id, compiler),
    };
  }
  createAdapter(): DialectAdapter {
    const adapter = this.#inner.createAdapter();
    guards.set(adapter, this.#guard);
    return adapter;
  }
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return this.#inner.createIntrospector(database);
  }
}

/** The guards by the adapters of their databases, which transactions and copies with plugins share. */
const guards = new WeakMap<object, Guard>();

/** The guard of a handle; `null` for a database without one. */
export function guardOfHandle(handle: { getExecutor(): { readonly adapter: object } }): Guard | null {
  return guards.get(handle.getExecutor().adapter) ?? null;
}

/** Compares the guard of a database with its catalogue. A database without a guard has nothing to check. */
export async function checkGuard(database: Kysely<any>): Promise<void> {
  const guard = guardOfHandle(database);
  if (guard === null) return;
  await database.getExecutor().provideConnection(async (connection) => {
    await checkCatalogue(guard, unguardedConnection(connection));
    if (guard.policies !== null) await policiesOf(guard, unguardedConnection(connection));
  });
}

type Execute = Parameters<DatabaseConnection["executeQuery"]>;

class GuardedDriver implements Driver {
  readonly #inner: Driver;
  readonly #guard: Guard;
  readonly #compiler: QueryCompiler;
  readonly #guarded = new WeakMap<DatabaseConnection, GuardedConnection>();

  constructor(inner: Driver, guard: Guard, compiler: QueryCompiler) {
    this.#inner = inner;
    this.#guard = guard;
    this.#compiler = compiler;
  }

  async init(...args: Parameters<Driver["init"]>): Promise<void> {
    await this.#inner.init(...args);
  }
  async acquireConnection(...args: Parameters<Driver["acquireConnection"]>): Promise<DatabaseConnection> {
    const inner = await this.#inner.acquireConnection(...args);
    const guarded = this.#guarded.get(inner) ?? new GuardedConnection(inner, this.#guard, this.#compiler, this.#inner);
    this.#guarded.set(inner, guarded);
    return guarded;
  }
  async beginTransaction(...[connection, settings]: Parameters<Driver["beginTransaction"]>): Promise<void> {
    await this.#inner.beginTransaction(unguardedConnection(connection), settings);
    sessionOf(connection)?.reset(true);
  }
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    sessionOf(connection)?.reset(false);
    await this.#inner.commitTransaction(unguardedConnection(connection));
  }
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    sessionOf(connection)?.reset(false);
    await this.#inner.rollbackTransaction(unguardedConnection(connection));
  }
  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await this.#inner.savepoint?.(unguardedConnection(connection), name, this.#compile);
  }
  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    sessionOf(connection)?.forget();
    await this.#inner.rollbackToSavepoint?.(unguardedConnection(connection), name, this.#compile);
  }
  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await this.#inner.releaseSavepoint?.(unguardedConnection(connection), name, this.#compile);
  }
  async releaseConnection(...[connection, ...args]: Parameters<Driver["releaseConnection"]>): Promise<void> {
    sessionOf(connection)?.reset(false);
    await this.#inner.releaseConnection(unguardedConnection(connection), ...args);
  }
  async destroy(...args: Parameters<Driver["destroy"]>): Promise<void> {
    await this.#inner.destroy(...args);
  }

  /** Savepoints are statements of the driver, which contain no tables. */
  readonly #compile: QueryCompiler["compileQuery"] = (node, id) => this.#compiler.compileQuery(node, id);
}

/** The connection without the guard. */
export function unguardedConnection(connection: DatabaseConnection): DatabaseConnection {
  return (connection as GuardedConnection).inner;
}

function sessionOf(connection: DatabaseConnection): PolicySession | null {
  return (connection as GuardedConnection).session;
}

class GuardedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  /** `null` without policies. */
  readonly session: PolicySession | null;
  readonly #guard: Guard;
  readonly #compiler: QueryCompiler;

  constructor(inner: DatabaseConnection, guard: Guard, compiler: QueryCompiler, driver: Driver) {
    this.inner = inner;
    this.session = guard.policies === null ? null : new PolicySession(inner, driver);
    this.#guard = guard;
    this.#compiler = compiler;
    // Kysely cancels a statement only on connections that can.
    for (const name of ["cancelQuery", "collectSessionInfo", "killSession"] as const) {
      const method = inner[name]?.bind(inner);
      if (method !== undefined) Object.assign(this, { [name]: method });
    }
  }

  async executeQuery<R>(...[compiled, options]: Execute): Promise<QueryResult<R>> {
    const statement = this.#checked(compiled);
    const execute = (): Promise<QueryResult<R>> =>
      statement.kind === "unchecked"
        ? this.inner.executeQuery<R>(compiled, options)
        : this.#execute<R>(statement.result, compiled, options);
    if (statement.kind === "guarded") await checkCatalogue(this.#guard, this.inner);
    const setting = await this.#settingOf(statement, compiled.sql);
    if (setting === null) return execute();
    return (this.session as PolicySession).run(setting, execute, compiled.query.kind === "SelectQueryNode");
  }

  async #execute<R>(
    { isCounted, probe, mustWrite }: GuardedResult,
    ...[compiled, options]: Execute
  ): Promise<QueryResult<R>> {
    const result = await this.inner.executeQuery<R>(compiled, options).catch((error: unknown) => {
      throw isRaised(error) ? Object.assign(refusal(), { cause: error }) : error;
    });
    const changed = Number(result.numAffectedRows ?? result.rows.length);
    if (changed === 0 && mustWrite) throw refusal();
    if (changed === 0 && probe !== null) {
      const found = await this.inner.executeQuery(this.#compiler.compileQuery(probe, compiled.queryId));
      if (found.rows.length > 0) throw refusal();
    }
    return isCounted ? counted(result, changed) : withoutCheck(result);
  }

  async *streamQuery<R>(
    ...[compiled, size, options]: Parameters<DatabaseConnection["streamQuery"]>
  ): AsyncIterableIterator<QueryResult<R>> {
    const statement = this.#checked(compiled);
    if (statement.kind === "guarded") {
      if (compiled.query.kind !== "SelectQueryNode") throw unguarded("the stream of a write");
      await checkCatalogue(this.#guard, this.inner);
    }
    const setting = await this.#settingOf(statement, compiled.sql);
    const end = setting === null ? null : await this.session?.enter(setting);
    let how: "commit" | "rollback" = "rollback";
    try {
      yield* this.inner.streamQuery<R>(compiled, size, options);
      how = "commit";
    } finally {
      await end?.(how);
    }
  }

  /** The setting that the policies of the statement's tables read; `null` for a statement without such a table. */
  async #settingOf(statement: CheckedStatement, sql: string): Promise<string | null> {
    if (this.session === null) return null;
    const hasPolicies = this.#guard.namedIn(sql).size > 0;
    if (statement.kind === "guarded" && hasPolicies) {
      return (await policiesOf(this.#guard, this.inner)).settingFor(statement.caller, sql);
    }
    // A change of the schema needs no setting, and some are not possible in a transaction.
    if (statement.kind === "unchecked" && hasPolicies && WRITES_OR_READS.test(sql)) return SYSTEM;
    if (statement.kind === "unchecked") this.session.note(sql);
    return null;
  }

  #checked(compiled: CompiledQuery): CheckedStatement {
    const statement = this.#guard.statementOf(compiled);
    // Portico explains statements that it has compiled before.
    if (statement === undefined && isTrusted(compiled.query)) return { kind: "unchecked" };
    if (statement === undefined) throw unguarded("it was compiled elsewhere");
    if (statement.kind === "refused") throw statement.error;
    if (statement.kind === "unchecked" || statement.operation === null) return statement;
    if (statement.operation !== currentContext()) throw unguarded("it was compiled for another request or operation");
    if (statement.operation.caller.user.identity !== statement.user)
      throw unguarded("it was compiled for another user");
    return statement;
  }
}

type CheckedStatement = Exclude<GuardedStatement, { readonly kind: "refused" }>;

const WRITES_OR_READS = /^\W*(?:select|insert|update|delete|merge|with|values|table)\b/i;

/** The caller may read the row, so the refusal reveals nothing. */
function refusal(): PermissionDenied {
  return new PermissionDenied("A row that would be written is outside of what you can write");
}

/** The result of a write as its driver returns it without RETURNING. */
function counted<R>(result: QueryResult<R>, changed: number): QueryResult<R> {
  const last = result.rows.at(-1) as Readonly<Record<string, unknown>> | undefined;
  const id = last?.[ROW_ID];
  const insertId = typeof id === "number" || typeof id === "bigint" ? { insertId: BigInt(id) } : {};
  return { ...result, ...insertId, numAffectedRows: BigInt(changed), rows: [] };
}

function withoutCheck<R>(result: QueryResult<R>): QueryResult<R> {
  const [first] = result.rows;
  if (typeof first !== "object" || first === null || !(CHECK in first)) return result;
  const rows = result.rows.map((row) => {
    const { [CHECK]: _check, ...rest } = row as Readonly<Record<string, unknown>>;
    return rest as R;
  });
  return { ...result, rows };
}

/** Returns a connection that executes statements as they are, for those that Portico writes itself. */
export function bareConnection(connection: DatabaseConnection): DatabaseConnection {
  return isInstance(connection, GuardedConnection) ? connection.inner : connection;
}
