import type { GraphQLResolveInfo } from "graphql";
import type { BaseContext } from "../../http/context.ts";
import type { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import type { PageRequest } from "../../pagination/page-request.ts";

/** The page that a field asks for. Its arguments are read elsewhere: a connection has no query, and no links. */
export class FieldPageRequest implements PageRequest {
  readonly params = {};
  readonly baseUrl = "";
  readonly place: string;
  readonly #ctx: BaseContext;

  constructor(ctx: BaseContext, { parentType, fieldName }: GraphQLResolveInfo) {
    this.#ctx = ctx;
    this.place = `${parentType.name}.${fieldName}`;
  }
  get keys(): CursorKeys {
    return this.#ctx.host.paging.keys;
  }
  get signal(): AbortSignal {
    return this.#ctx.signal;
  }
  now(): number {
    return this.#ctx.host.clock.now();
  }
  warn(sentence: string): void {
    this.#ctx.host.paging.warn(sentence, this.place);
  }
}
