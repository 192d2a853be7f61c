import type { KyselyPlugin, QueryId } from "kysely";
import { currentContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { ANONYMOUS, type Caller } from "../../kernel/identity/identity.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { checkSubqueries, markWithRules } from "./check-subqueries.ts";

/** On whose behalf a statement runs: a caller, or no one in particular, whom no rule concerns. */
export type GuardCaller = UserCaller | "system";

/** The members of a context that rules read. */
export interface UserCaller {
  readonly identity: BaseContext["identity"];
  readonly user: BaseContext["user"];
}

/** The caller of the current request or operation; `null` outside of one. */
export function operationCaller(): BaseContext | null {
  return currentContext();
}

/** A user for whom a job works. */
export function userCaller(user: Caller): UserCaller {
  return { user, identity: { ...ANONYMOUS, user } };
}

/** The callers of handles, by the id of the query that one of them is about to compile. */
const callers = new WeakMap<QueryId, GuardCaller>();

/** Makes the statements of a handle those of a caller. The last one of a handle decides. */
export class CallerPlugin implements KyselyPlugin {
  readonly caller: GuardCaller;

  constructor(caller: GuardCaller) {
    this.caller = caller;
  }
  transformQuery({ node, queryId }: Parameters<KyselyPlugin["transformQuery"]>[0]): typeof node {
    callers.set(queryId, this.caller);
    return node;
  }
  async transformResult({
    result,
  }: Parameters<KyselyPlugin["transformResult"]>[0]): ReturnType<KyselyPlugin["transformResult"]> {
    return result;
  }
}

/** Makes the statements of a handle those of the application without rules, and refuses a subquery that has rules. */
export class SystemPlugin extends CallerPlugin {
  constructor() {
    super("system");
  }
  override transformQuery(given: Parameters<KyselyPlugin["transformQuery"]>[0]): typeof given.node {
    checkSubqueries(given);
    return super.transformQuery(given);
  }
}

/** For the statements of Portico itself. */
export const AS_PORTICO: CallerPlugin = new CallerPlugin("system");

/** The caller of the handle that a query was built with; `undefined` if the handle has none. */
export function namedCaller(query: AnyQuery): GuardCaller | undefined {
  let found: GuardCaller | undefined;
  const reader: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      found = takeCaller(queryId);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  query.withPlugin(reader).toOperationNode();
  return found;
}

/** Marks the queries of a handle that has rules, after all plugins that copy them. */
export const LAST_OF_HANDLE: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => {
    if (callers.get(queryId) !== "system") markWithRules(node);
    return node;
  },
  transformResult: async ({ result }) => result,
};

/** The caller of the handle that is about to compile a query. The query may be compiled with another handle next time. */
export function takeCaller(queryId: QueryId): GuardCaller | undefined {
  const caller = callers.get(queryId);
  callers.delete(queryId);
  return caller;
}
