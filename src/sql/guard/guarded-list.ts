import {
  type AliasNode,
  type IdentifierNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  type QueryId,
  type SelectQueryNode,
} from "kysely";
import { ALWAYS, type Condition, type ConditionNode, Term } from "../../pagination/conditions/condition.ts";
import { trust } from "../statements/is-trusted.ts";
import type { Guard } from "./guard.ts";
import { callerOf, operationCaller, type UserCaller } from "./guard-caller.ts";
import { checkAlias } from "./guard-transformer.ts";

type Transform = Parameters<KyselyPlugin["transformQuery"]>[0];
type Result = Parameters<KyselyPlugin["transformResult"]>[0];

/** Adds the rules of its tables to the query of a list, for the caller of the handle or of the current operation. */
export class GuardedList implements KyselyPlugin {
  readonly #guard: Guard;
  readonly #operation: UserCaller | null;
  readonly #replaced: ReadonlyMap<string, Condition>;
  /** A list compiles its query several times, and the values of its rules are those of one caller. */
  readonly #guarded = new WeakMap<OperationNode, SelectQueryNode>();
  /** The rules of the tables that the last query reads, once for each place. */
  #rules: readonly { readonly table: string; readonly rule: ConditionNode }[] = [];

  /** @param replaced rules that stand in for those of the guard */
  constructor(
    guard: Guard,
    replaced: ReadonlyMap<string, Condition> = new Map(),
    operation: UserCaller | null = operationCaller(),
  ) {
    this.#guard = guard;
    this.#replaced = replaced;
    this.#operation = operation;
  }

  /** The rule of a table if the query that was compiled last reads it once. */
  ruleOf(table: string): Condition {
    const [only, ...others] = this.#rules.filter((read) => read.table === table);
    return only === undefined || others.length > 0 ? ALWAYS : new Term(only.rule);
  }

  /** Returns the same for a list whose statements have a part of a table's rule in another way. */
  replacing(table: string, rule: Condition): GuardedList {
    return new GuardedList(this.#guard, new Map([[table, rule]]), this.#operation);
  }

  transformQuery({ node, queryId }: Transform): typeof node {
    const caller = callerOf(queryId) ?? this.#operation;
    if (caller === "system") return node;
    const guarded = this.#guarded.get(node) ?? trust(this.#guardedFor(node as SelectQueryNode, caller));
    this.#guarded.set(node, guarded);
    return guarded;
  }
  async transformResult({ result }: Result): Promise<typeof result> {
    return result;
  }

  #guardedFor(node: SelectQueryNode, caller: UserCaller | null): SelectQueryNode {
    this.#rules = [];
    return this.#guard.list(node, caller, (table, rule) => {
      this.#rules = [...this.#rules, { table, rule }];
      return this.#replaced.get(table)?.["~condition"] ?? rule;
    });
  }
}

/** Compiles a query without the rules of a guard, to read its columns. It is never executed. */
export class AsWritten implements KyselyPlugin {
  readonly #isOfAuthor: boolean;

  /** @param isOfAuthor whether the query has no conditions yet, so that aliases of related tables are refused */
  constructor(isOfAuthor: boolean) {
    this.#isOfAuthor = isOfAuthor;
  }
  transformQuery({ node, queryId }: Transform): typeof node {
    if (this.#isOfAuthor) new AliasCheck().transformNode(node, queryId);
    return trust({ ...node });
  }
  async transformResult({ result }: Result): Promise<typeof result> {
    return result;
  }
}

class AliasCheck extends OperationNodeTransformer {
  protected override transformAlias(node: AliasNode, queryId?: QueryId): AliasNode {
    checkAlias((node.alias as Partial<IdentifierNode>).name ?? "");
    return super.transformAlias(node, queryId);
  }
}
