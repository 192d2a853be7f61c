import { isDeepStrictEqual } from "node:util";
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
import type { AnyQuery } from "../statements/any-query.ts";
import { trust } from "../statements/is-trusted.ts";
import { sentBy } from "../statements/sender-of.ts";
import type { Guard } from "./guard.ts";
import { namedCaller, operationCaller } from "./guard-caller.ts";
import { checkAlias, GuardTransformer, type TableConditions } from "./guard-transformer.ts";
import { readTables } from "./read-tables.ts";

type Transform = Parameters<KyselyPlugin["transformQuery"]>[0];
type Result = Parameters<KyselyPlugin["transformResult"]>[0];

/** Adds the rules of its tables to the query of a list, for the caller of the handle or of the current operation. */
export class GuardedList implements KyselyPlugin {
  /** `null` for statements without rules. */
  readonly #conditions: TableConditions | null;
  /** The tables that the query reads, once for each place. */
  readonly #tables: readonly string[];
  /** A list compiles its query several times. */
  readonly #guarded = new WeakMap<OperationNode, SelectQueryNode>();

  private constructor(conditions: TableConditions | null, tables: readonly string[]) {
    this.#conditions = conditions;
    this.#tables = tables;
  }

  /** @param text the text of the query as its author wrote it */
  static of(guard: Guard, query: AnyQuery, text: string): GuardedList {
    const caller = namedCaller(query) ?? operationCaller();
    if (caller === "system") return new GuardedList(null, []);
    return new GuardedList(guard.conditionsFor(caller), readTables(guard, query, text).tables);
  }

  /** Returns the query with the rules. */
  guarded(query: AnyQuery): AnyQuery {
    return sentBy(query.withPlugin(this), query);
  }

  /** The rule of a table if the query reads it once. */
  ruleOf(table: string): Condition {
    const isReadOnce = this.#tables.filter((read) => read === table).length === 1;
    return isReadOnce ? new Term(this.#conditionOf(table)) : ALWAYS;
  }

  /** Whether a rule leaves rows out. */
  get isRestricting(): boolean {
    return this.#tables.some((table) => this.#conditionOf(table).kind !== "always");
  }

  /** Returns the same for a list whose statements have a part of a table's rule in another way. */
  replacing(replaced: string, rule: Condition): GuardedList {
    const conditions = this.#conditions as TableConditions;
    const of: TableConditions["of"] = (table, verb) =>
      table === replaced ? rule["~condition"] : conditions.of(table, verb);
    return new GuardedList({ ...conditions, of }, this.#tables);
  }

  /** Whether both add the same rules with the same values. */
  isSame(other: GuardedList): boolean {
    if (this.#conditions === null || other.#conditions === null) return this.#conditions === other.#conditions;
    const tables = new Set([...this.#tables, ...other.#tables]);
    return [...tables].every((table) => isDeepStrictEqual(this.#conditionOf(table), other.#conditionOf(table)));
  }

  transformQuery({ node }: Transform): typeof node {
    const conditions = this.#conditions;
    if (conditions === null) return node;
    const guarded =
      this.#guarded.get(node) ?? trust(new GuardTransformer(conditions, true).transformNode(node as SelectQueryNode));
    this.#guarded.set(node, guarded);
    return guarded;
  }
  async transformResult({ result }: Result): Promise<typeof result> {
    return result;
  }

  #conditionOf(table: string): ConditionNode {
    return (this.#conditions as TableConditions).of(table, "read");
  }
}

/** Compiles a query without the rules of a guard, to read its columns. It is never executed. */
export const AS_WRITTEN: KyselyPlugin = {
  transformQuery: ({ node }) => trust({ ...node }),
  transformResult: async ({ result }) => result,
};

/** Throws for an alias of a related table in a query that has no conditions yet. */
export function checkAliases(node: SelectQueryNode): void {
  new AliasCheck().transformNode(node);
}

class AliasCheck extends OperationNodeTransformer {
  protected override transformAlias(node: AliasNode, queryId?: QueryId): AliasNode {
    checkAlias((node.alias as Partial<IdentifierNode>).name ?? "");
    return super.transformAlias(node, queryId);
  }
}
