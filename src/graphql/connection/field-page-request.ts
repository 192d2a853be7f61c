import type { GraphQLResolveInfo } from "graphql";
import { ContextPageRequest, type PageContext } from "../../kernel/pages/context-page-request.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";

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
