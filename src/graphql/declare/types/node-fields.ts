import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { BadRequest } from "../../../kernel/exceptions/http-exception.ts";
import { field } from "../fields/field.ts";
import type { FieldDef } from "../fields/field-def.ts";
import type { NodeSource, ObjectNode } from "../references/type-node.ts";
import { openGlobalId } from "./global-id.ts";
import { list, nullable } from "./list-type.ts";
import { Node } from "./node.ts";
import { id as idType } from "./scalars.ts";

const MAX_IDS = 100;

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
      listSize: { argument: "ids", max: MAX_IDS },
      description: `The objects with these ids, at most ${MAX_IDS}, each as node returns it.`,
    })(({ ids, ctx }) => {
      if (ids.length > MAX_IDS)
        throw new BadRequest(`nodes accepts at most ${MAX_IDS} ids`, { code: "BAD_USER_INPUT" });
      return ids.map((id) => find(ctx, id)) as never;
    }) as FieldDef<never>,
  };
}
