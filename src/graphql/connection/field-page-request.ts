import type { GraphQLResolveInfo } from "graphql";
import { ContextPageRequest, type PageContext } from "../../http/pages/context-page-request.ts";
import type { PageRequest } from "../../pagination/page-request.ts";

/** The page that a field asks for. Its arguments are read elsewhere: a connection has no query, and no links. */
export class FieldPageRequest extends ContextPageRequest<PageContext> {
  override readonly params = {};
  override readonly baseUrl = "";
  override readonly place: string;

  constructor(ctx: PageContext, { parentType, fieldName }: GraphQLResolveInfo, filter: PageRequest["filter"]) {
    super(ctx, filter);
    this.place = `${parentType.name}.${fieldName}`;
  }
}
