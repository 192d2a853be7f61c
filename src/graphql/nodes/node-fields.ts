import type { BaseContext } from "../../http/context/http-context.ts";
import { BadRequest } from "../../http/exceptions/http-exception.ts";
import { field } from "../fields/field.ts";
import type { FieldDef } from "../fields/field-def.ts";
import { list, nullable } from "../types/list-type.ts";
import { id as idType } from "../types/scalars.ts";
import type { ObjectNode } from "../types/type-node.ts";
import { openGlobalId } from "./global-id.ts";
import { Node } from "./node.ts";
import type { NodeSource } from "./node-source.ts";

const MOST_IDS = 100;

/** Returns the root fields `node` and `nodes` for the types of a schema that have the option `node`. */
export function nodeFields(types: readonly ObjectNode[]): Readonly<Record<"node" | "nodes", FieldDef<never>>> {
  const sources = new Map(types.map(({ name, node }) => [name, node as NodeSource]));
  const find = (ctx: BaseContext, id: string): Promise<object | null> | null => {
    const opened = openGlobalId(id);
    const source = opened === null ? undefined : sources.get(opened.type);
    if (opened === null || source === undefined || !source.isKey(opened.key)) return null;
    return source.rows.load(ctx, opened.key);
  };
  return {
    node: field(nullable(Node), {
      params: { id: idType },
      description: "The object with this id, or null if the caller may not see it or it does not exist.",
    })(({ id, ctx }) => find(ctx, id) as never) as FieldDef<never>,
    nodes: field(list(nullable(Node)), {
      params: { ids: list(idType) },
      listSize: { argument: "ids", max: MOST_IDS },
      description: `The objects with these ids, at most ${MOST_IDS}, each as node returns it.`,
    })(({ ids, ctx }) => {
      if (ids.length > MOST_IDS)
        throw new BadRequest(`nodes accepts at most ${MOST_IDS} ids`, { code: "BAD_USER_INPUT" });
      return ids.map((id) => find(ctx, id)) as never;
    }) as FieldDef<never>,
  };
}
