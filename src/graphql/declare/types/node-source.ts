import type { MaybePromise } from "../../../core/maybe-promise.ts";
import { callable, optional, resolveOptions, text } from "../../../core/resolve-options.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { loader } from "../../operation/loader.ts";
import { field } from "../fields/field.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { NodeSource } from "../references/type-node.ts";
import { globalId } from "./global-id.ts";
import { markNode } from "./node.ts";
import { id as idType } from "./scalars.ts";

/** How the objects of a type are found by their ids. */
export interface NodeOptions<Row> {
  /**
   * Returns the existing rows with these keys, in any order. It is called once for all ids of the type that an operation
   * requests at the same time. The keys come from clients.
   */
  load(keys: readonly string[], given: { readonly ctx: BaseContext }): MaybePromise<readonly Row[]>;
  /** The property that identifies a row. @default "id" */
  readonly key?: Extract<keyof Row, string>;
  /** Whether a text can be a key. If not, there is no such object, and `load` is not called. @default any text */
  isKey?(text: string): boolean;
}

/** Reads the option `node` of an object type. Throws `ConfigurationError`. */
export function nodeSource(type: string, options: unknown): NodeSource {
  const owner = `object ${type}.node`;
  const { load, key, isKey } = resolveOptions(owner, options, rules);
  if (load === undefined) throw new ResolverError(owner, "requires load, which returns the rows with some keys");
  const keyOf = (row: object): string => {
    const value: unknown = (row as Record<string, unknown>)[key];
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return String(value);
    throw new TypeError(`${type}.${key} must be a string, a number or a bigint, because it is part of the id`);
  };
  return {
    key,
    isKey: (isKey ?? (() => true)) as NodeSource["isKey"],
    rows: loader<string, object | null>(async (keys, given) => {
      const found: unknown = await (load as NodeOptions<object>["load"])(keys, given);
      if (!Array.isArray(found)) throw new TypeError(`node.load of ${type} must return a list of rows`);
      const byKey = new Map((found as readonly object[]).map((row) => [keyOf(row), row]));
      return keys.map((wanted) => {
        const row = byKey.get(wanted);
        return row === undefined ? null : markNode(row, type);
      });
    }),
    idField: field(idType, { description: "The id of the object among all objects.", reads: [key] })(
      ({ parent }: { readonly parent: object }) => globalId(type, keyOf(parent)),
    )["~field"],
  };
}

const rules = { load: callable, key: optional(text, "id"), isKey: callable } as const;
