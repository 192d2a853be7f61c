import {
  type AliasNode,
  type IdentifierNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  type QueryId,
  type SelectQueryNode,
} from "kysely";
import { trust } from "../statements/is-trusted.ts";
import type { Guard } from "./guard.ts";
import { callerOf, operationCaller, type UserCaller } from "./guard-caller.ts";
import { checkAlias } from "./guard-transformer.ts";

type Transform = Parameters<KyselyPlugin["transformQuery"]>[0];
type Result = Parameters<KyselyPlugin["transformResult"]>[0];

/** Adds the rules of its tables to the query of a list, for the caller of the handle or of the current operation. */
export class GuardedList implements KyselyPlugin {
  readonly #guard: Guard;
  readonly #operation: UserCaller | null = operationCaller();
  /** A list compiles its query several times, and the values of its rules are those of one caller. */
  readonly #guarded = new WeakMap<OperationNode, SelectQueryNode>();

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  transformQuery({ node, queryId }: Transform): typeof node {
    const caller = callerOf(queryId) ?? this.#operation;
    if (caller === "system") return node;
    const guarded = this.#guarded.get(node) ?? trust(this.#guard.list(node as SelectQueryNode, caller));
    this.#guarded.set(node, guarded);
    return guarded;
  }
  async transformResult({ result }: Result): Promise<typeof result> {
    return result;
  }
}

/** Compiles a query as the author wrote it, to read its columns. It is never executed. Throws for aliases of related tables. */
export class AsWritten implements KyselyPlugin {
  transformQuery({ node, queryId }: Transform): typeof node {
    new AliasCheck().transformNode(node, queryId);
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
