import type { CompiledQuery, OperationNode, QueryCompiler, QueryId, RootOperationNode } from "kysely";
import { conditionFor } from "../../kernel/access/list-scope-of.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { ANONYMOUS, type Caller } from "../../kernel/identity/identity.ts";
import { ALWAYS, allOf, type Condition, type ConditionNode, NEVER } from "../../pagination/conditions/condition.ts";
import { isTrusted } from "../statements/is-trusted.ts";
import type { GuardedEngine } from "../statements/sql-dialect.ts";
import { type GuardCaller, operationCaller, takeCaller, type UserCaller, userCaller } from "./guard-caller.ts";
import { type GuardedResult, GuardTransformer, type TableConditions } from "./guard-transformer.ts";
import { KnownFunctions } from "./known-functions.ts";
import { columnsOf, readsItself } from "./raising-check.ts";
import { readGuard, type TableGates } from "./read-guard.ts";
import { ownColumns, textColumns } from "./text-columns.ts";
import { withoutCaller } from "./unguarded.ts";

/** A statement that the compiler of a guarded database has returned. */
export type GuardedStatement =
  | { readonly kind: "unchecked" }
  | { readonly kind: "refused"; readonly error: unknown }
  | {
      readonly kind: "guarded";
      readonly result: GuardedResult;
      /** The operation whose caller the statement was compiled for; `null` if its handle or its list names the caller. */
      readonly operation: BaseContext | null;
      /** The user of that operation, who may change before the statement is executed. */
      readonly user: string | null;
      /** The caller whose rules it has. */
      readonly caller: UserCaller | null;
    };

/** The rules of the tables of one database. */
export class Guard {
  readonly tables: ReadonlyMap<string, TableGates>;
  /** The reasons with which handles without rules were made. */
  readonly reasons: Set<string> = new Set();
  /** The columns whose text the rules have compared so far: `"memberships.user_id"`. */
  readonly compared: Set<string> = new Set();
  /** The tables whose rules for writing have looked up other rows of the table so far. */
  readonly selfReading: Set<string> = new Set();
  /** The sample users of policies; `null` without policies. */
  readonly policies: readonly Caller[] | null;
  /** The columns that the rules for writing have depended on so far. */
  readonly written: Set<string> = new Set();
  readonly functions: KnownFunctions;
  readonly #engine: GuardedEngine;
  readonly #statements = new WeakMap<CompiledQuery, GuardedStatement>();

  /** @param own the functions that the application has declared */
  constructor(given: unknown, engine: GuardedEngine, policies: readonly Caller[] | null, own?: readonly string[]) {
    this.tables = readGuard(given);
    this.functions = new KnownFunctions(engine, own);
    this.policies = policies;
    this.#engine = engine;
  }

  get engine(): GuardedEngine {
    return this.#engine;
  }

  /** Returns what the connection must know about a statement; `undefined` for one that was compiled elsewhere. */
  statementOf(compiled: CompiledQuery): GuardedStatement | undefined {
    return this.#statements.get(compiled);
  }

  /** Compiles a statement with the rules of its tables. One that is refused is compiled as it is, and never executed. */
  compile(root: RootOperationNode, id: QueryId, compiler: QueryCompiler): CompiledQuery {
    const named = takeCaller(id);
    const { node, statement } = this.#prepare(root, id, named);
    const compiled = frozen(compiler.compileQuery(node as RootOperationNode, id));
    this.#statements.set(compiled, statement);
    guards.set(compiled, this);
    return compiled;
  }

  #prepare(
    root: RootOperationNode,
    id: QueryId,
    named: GuardCaller | undefined,
  ): { readonly node: OperationNode; readonly statement: GuardedStatement } {
    if (named === "system") return { node: root, statement: { kind: "unchecked" } };
    if (isTrusted(root)) {
      const caller = named ?? operationCaller();
      return { node: root, statement: { kind: "guarded", result: AS_IT_IS, ...OF_NO_OPERATION, caller } };
    }
    try {
      const operation = operationCaller();
      const caller = named ?? operation;
      const transformer = new GuardTransformer(this.conditionsFor(caller), false);
      const node = transformer.transformNode(root, id);
      const of = named === undefined && operation !== null ? ofOperation(operation) : OF_NO_OPERATION;
      return { node, statement: { kind: "guarded", result: transformer.result, ...of, caller } };
    } catch (error) {
      return { node: root, statement: { kind: "refused", error } };
    }
  }

  /** The columns of each table that its rule for reading compares with values: usually the one of the tenant. */
  tenantColumns(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(
      [...this.tables.keys()].map((table) => {
        const found = [true, false].flatMap((mayAll) => ownColumns(this.#sample(table, "read", mayAll)));
        return [table, new Set(found)];
      }),
    );
  }

  /** The tables with a rule. */
  get ruled(): readonly string[] {
    return [...this.tables].flatMap(([table, { read, write }]) => (read === null && write === null ? [] : [table]));
  }

  /** The tables with a rule whose names a statement contains. */
  namedIn(sql: string): ReadonlySet<string> {
    const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_$]+/gu));
    return new Set(
      this.ruled.filter((table) =>
        (
          table
            .split(".")
            .at(-1)
            ?.toLowerCase()
            .match(/[\p{L}\p{N}_$]+/gu) ?? []
        ).every((word) => words.has(word)),
      ),
    );
  }

  /** The condition of a table for a caller. */
  conditionFor(table: string, verb: "read" | "write", caller: UserCaller | null): ConditionNode {
    return this.#conditionOf(table, verb, caller)["~condition"];
  }

  /** The conditions of a table for the sample users of policies. */
  samples(table: string, verb: "read" | "write"): readonly ConditionNode[] {
    const anonymous = this.conditionFor(table, verb, userCaller(ANONYMOUS.user));
    const given = (this.policies ?? []).map((user) => this.conditionFor(table, verb, userCaller(user)));
    return [...[true, false].map((mayAll) => this.#sample(table, verb, mayAll)), anonymous, ...given];
  }

  /** The condition for a user who does not exist; one that matches nothing if the rule reads more than such a user has. */
  #sample(table: string, verb: "read" | "write", mayAll: boolean): ConditionNode {
    // The application may have registered a class with more members.
    const user: unknown = new SampleUser(mayAll);
    try {
      return this.conditionsFor(userCaller(user as Caller)).of(table, verb);
    } catch {
      return NEVER["~condition"];
    }
  }

  /** Returns the columns that the rules compare for a user who may do everything, and for one who may do nothing. */
  sampled(): ReadonlySet<string> {
    // A rule may read members that only a real user has. Its columns are compared with its first statement.
    for (const mayAll of [true, false])
      for (const table of this.tables.keys())
        for (const verb of ["read", "write"] as const) this.#sample(table, verb, mayAll);
    return this.compared;
  }

  /** Returns the conditions of a caller, each of which is read once. */
  conditionsFor(caller: UserCaller | null): TableConditions {
    const known = new Map<string, ConditionNode>();
    return {
      engine: this.#engine,
      functions: this.functions,
      has: (table) => this.tables.has(table),
      of: (table, verb) => {
        const key = `${verb} ${table}`;
        const before = known.get(key);
        if (before !== undefined) return before;
        const condition = this.#conditionOf(table, verb, caller)["~condition"];
        known.set(key, condition);
        if (verb === "write" && readsItself(condition, table)) this.selfReading.add(table);
        for (const column of textColumns(condition, table)) this.compared.add(column);
        if (verb === "write") for (const column of columnsOf(condition, table)) this.written.add(`${table}.${column}`);
        return condition;
      },
    };
  }

  #conditionOf(table: string, verb: "read" | "write", caller: UserCaller | null): Condition {
    const { read, write } = this.tables.get(table) as TableGates;
    if (verb === "write" && write === "closed") return NEVER;
    const gates = verb === "read" ? [read] : [read, write as Exclude<typeof write, "closed">];
    const conditions = gates.map((gate) => {
      if (gate === null) return ALWAYS;
      if (caller === null) throw withoutCaller(table);
      return conditionFor(gate, caller);
    });
    return allOf(conditions);
  }
}

/** A statement is executed with the values that it was guarded with. */
function frozen(compiled: CompiledQuery): CompiledQuery {
  const parameters = compiled.parameters.map((value) => (Array.isArray(value) ? Object.freeze([...value]) : value));
  return Object.freeze({ ...compiled, parameters: Object.freeze(parameters) });
}

/** A user who does not exist, for the conditions of rules before there is a caller. */
class SampleUser {
  readonly isAuthenticated = true;
  readonly identity = "00000000-0000-4000-8000-000000000000";
  readonly displayName = "";
  readonly #mayAll: boolean;

  constructor(mayAll: boolean) {
    this.#mayAll = mayAll;
  }
  get id(): string {
    return this.identity;
  }
  hasPermission(): boolean {
    return this.#mayAll;
  }
  may(): boolean {
    return this.#mayAll;
  }
}

const OF_NO_OPERATION = { operation: null, user: null } as const;

function ofOperation(operation: BaseContext): { readonly operation: BaseContext; readonly user: string } {
  // `caller` does not say that the response depends on the caller: the table may be open.
  return { operation, user: operation.caller.user.identity };
}

const AS_IT_IS: GuardedResult = { isCounted: false, probe: null, mustWrite: false };

const guards = new WeakMap<CompiledQuery, Guard>();

/** The guard of the database that has compiled a query. */
export function guardOf(compiled: CompiledQuery): Guard | null {
  return guards.get(compiled) ?? null;
}
