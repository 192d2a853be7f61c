import { openGlobalId } from "./global-id.ts";
import type { ObjectType } from "./object-type.ts";

/**
 * Returns the key in the id of an object of this type, for arguments that receive such ids. It is `null` if the id is
 * malformed or belongs to another type. Whether the object exists, and whether the caller may see it, is not checked.
 *
 * @example
 * ```ts
 * import { mutation, nodeKey, object, type ObjectType, t } from "portico/graphql";
 *
 * interface BookRow { id: string; title: string }
 * declare function booksById(ids: readonly string[]): Promise<BookRow[]>;
 * declare function removeBook(id: string | null): Promise<boolean>;
 *
 * const Book: ObjectType<BookRow> = object("Book", { title: t.string }, { node: { load: booksById } });
 * export const remove = mutation(t.boolean, { params: { id: t.id } })(({ id }) => removeBook(nodeKey(Book, id)));
 * ```
 */
export function nodeKey(type: ObjectType<any>, id: string): string | null {
  const opened = openGlobalId(id);
  return opened?.type === type.name ? opened.key : null;
}
