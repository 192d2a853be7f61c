import type { GraphQLResolveInfo } from "graphql";
import { ContextPageRequest, type PageContext } from "../../http/pages/context-page-request.ts";
import type { ListScope } from "../../pagination/list-scope.ts";
import type { PageRequest } from "../../pagination/page-request.ts";

/** The page request of a field. A connection has no query string and no links, and its arguments are read elsewhere. */
export class FieldPageRequest extends ContextPageRequest<PageContext> {
  override readonly params = {};
  override readonly baseUrl = "";
  override readonly place: string;

  constructor(
    ctx: PageContext,
    { parentType, fieldName }: GraphQLResolveInfo,
    cursorScope: PageRequest["cursorScope"],
    scope?: ListScope,
  ) {
    super(ctx, cursorScope, scope);
    this.place = `${parentType.name}.${fieldName}`;
  }
}
