import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { Later } from "../../core/work/batch-queue.ts";
import { memoOf } from "../../kernel/context/memo-of.ts";
import type { Filters } from "../../pagination/filter/filters.ts";
import { isNestable, type ParentKey } from "../../pagination/handlers/data-handler.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import type { FieldCall } from "../declare/fields/field-declaration.ts";
import { openBatchesOf } from "../operation/open-batches.ts";
import { NestedLists } from "./nested-lists.ts";
import type { OpenList } from "./open-list.ts";

/** The lists that the calls of one turn share. */
interface Level extends Omit<OpenList, "handler"> {
  readonly lists: NestedLists;
}

/** One of the lists of a level. */
interface ListOfParent {
  readonly parent: ParentKey;
  readonly filters: Filters | null;
  /** The columns that its rows need; `null` for all of them. */
  readonly columns: readonly string[] | null;
}

type OwnArgs = (args: FieldCall["args"]) => readonly unknown[];

/** A connection with `parent`. The calls of its field that one operation makes in the same turn share their lists. */
export class NestedFields {
  readonly #by: readonly (readonly [column: string, field: string])[];
  readonly #ownArgs: OwnArgs;

  /** @param ownArgs returns the arguments that the resolver may depend on, without those of the page */
  constructor(by: unknown, ownArgs: OwnArgs) {
    this.#by = readColumns(by);
    this.#ownArgs = ownArgs;
  }

  /** The fields of the parent that columns refer to. */
  get fields(): readonly string[] {
    return this.#by.map(([, field]) => field);
  }

  /** Returns the values that refer to the parent. */
  parentKey(parent: unknown): ParentKey {
    return Object.fromEntries(
      this.#by.map(([column, field]) => {
        const value = (parent as Readonly<Record<string, unknown>> | null | undefined)?.[field];
        if (isReference(value)) return [column, value];
        throw new TypeError(
          `connection.parent refers to the field ${field} of the parent, which must be a string, a number, a boolean, a date or null, received ${typeof value}`,
        );
      }),
    );
  }

  /**
   * Returns the list of a parent. `open` returns the list of all parents, and is called once in each turn for the same
   * arguments and filters.
   */
  list(
    { args, graph }: Pick<FieldCall, "args" | "graph">,
    { parent, filters, columns }: ListOfParent,
    open: () => MaybePromise<OpenList>,
  ): MaybePromise<OpenList> {
    const levels = memoOf(graph.connection, this, () => new Map<string, MaybePromise<Level>>());
    const name = argsText([filters?.text, ...this.#ownArgs(args)]);
    const known = levels.get(name);
    const { afterLists } = openBatchesOf(graph.connection);
    const level = known ?? andThen(open(), (list) => levelOf(list, afterLists));
    if (known === undefined) {
      levels.set(name, level);
      // A later turn may be inside another transaction.
      afterLists(() => levels.delete(name));
    }
    return andThen(level, ({ lists, ...others }) => ({ handler: lists.of(parent, columns), ...others }));
  }
}

function levelOf({ handler, ...others }: OpenList, later: Later): Level {
  if (isNestable(handler)) return { lists: new NestedLists(handler, later), ...others };
  throw new ConfigurationError(
    "connection.parent",
    `requires a data handler with getItemsBelow and countBelow, such as tableHandler. ${handler.constructor.name} has none: return the list of each parent instead, without this option`,
  );
}

/** Adds the parent to the scope of the cursors. */
export function withParent(cursorScope: PageRequest["cursorScope"], parent: ParentKey): PageRequest["cursorScope"] {
  const twice = Object.keys(cursorScope ?? {}).find((name) => Object.hasOwn(parent, name));
  if (twice === undefined) return { ...cursorScope, ...parent };
  throw new TypeError(`the cursorScope of a connection must not contain ${twice}, which refers to the parent`);
}

function readColumns(by: unknown): readonly (readonly [column: string, field: string])[] {
  const columns = typeof by === "object" && by !== null && !Array.isArray(by) ? Object.entries(by) : [];
  if (columns.length > 0 && columns.every(([, field]) => typeof field === "string" && field !== ""))
    return columns as [string, string][];
  throw new ConfigurationError(
    "connection.parent",
    'an object from columns of the list to fields of the parent, such as { author_id: "id" }',
    by,
  );
}

function isReference(value: unknown): value is ParentKey[string] {
  return (
    value === null ||
    ["string", "number", "bigint", "boolean"].includes(typeof value) ||
    (value instanceof Date && !Number.isNaN(value.getTime()))
  );
}

/** Returns equal text for equal arguments. Two objects of a class are never equal, because they may hide their state. */
function argsText(values: readonly unknown[]): string {
  return JSON.stringify(values.map(comparable));
}

function comparable(value: unknown): unknown {
  if (
    typeof value === "bigint" ||
    typeof value === "undefined" ||
    Number.isNaN(value) ||
    Math.abs(value as number) === Infinity
  )
    return { [typeof value]: String(value) };
  if (value instanceof Date) return { date: value.getTime() };
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === "symbol" || typeof value === "function") return { unlike: ++unlike };
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return { unlike: ++unlike };
  return Object.entries(value).map(([key, entry]) => [key, comparable(entry)]);
}

let unlike = 0;
