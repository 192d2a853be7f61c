import type { KyselyPlugin, SelectQueryNode } from "kysely";
import { ALWAYS, type ConditionNode } from "../../pagination/conditions/condition.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { trust } from "../statements/is-trusted.ts";
import type { Guard } from "./guard.ts";
import { GuardTransformer } from "./guard-transformer.ts";

/** The guarded tables that the queries of one text read. */
interface ReadTables {
  /** Once for each place. */
  readonly tables: readonly string[];
  /** Whether rules that allow all rows leave the text as it is. */
  readonly isKept: boolean;
}

const MAX_TEXTS = 500;
const known = new WeakMap<Guard, Map<string, ReadTables>>();

/**
 * Returns which tables the query of a list reads. This is the same for every caller, so it is read once for a text. Throws for
 * a query that the guard refuses.
 *
 * @param text the text of the query as its author wrote it
 */
export function readTables(guard: Guard, query: AnyQuery, text: string): ReadTables {
  const texts = known.get(guard) ?? new Map<string, ReadTables>();
  known.set(guard, texts);
  const before = texts.get(text);
  if (before !== undefined) return before;
  const tables: string[] = [];
  const of = (table: string): ConditionNode => {
    tables.push(table);
    return ALWAYS["~condition"];
  };
  const has = (table: string): boolean => guard.tables.has(table);
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) =>
      trust(
        new GuardTransformer({ engine: guard.engine, functions: guard.functions, has, of }, true).transformNode(
          node as SelectQueryNode,
        ),
      ),
    transformResult: async ({ result }) => result,
  };
  const isKept = query.limit(1).withPlugin(plugin).compile().sql === text;
  if (texts.size >= MAX_TEXTS) texts.clear();
  texts.set(text, { tables, isKept });
  return { tables, isKept };
}
