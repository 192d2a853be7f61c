import type { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import type { PageRequest } from "../../pagination/page-request.ts";
import type { QueryParams } from "../../pagination/query-params.ts";
import type { BaseContext } from "../context/http-context.ts";

/** The page that somebody asks for on a connection, whatever it goes through: a route, or a field. */
export abstract class ContextPageRequest implements PageRequest {
  abstract readonly params: QueryParams;
  abstract readonly baseUrl: string;
  abstract readonly place: string;
  readonly filter?: Readonly<Record<string, unknown>>;
  protected readonly ctx: BaseContext;

  constructor(ctx: BaseContext, filter: PageRequest["filter"]) {
    this.ctx = ctx;
    if (filter !== undefined) this.filter = filter;
  }
  get keys(): CursorKeys {
    return this.ctx.services.paging.keys;
  }
  get signal(): AbortSignal {
    return this.ctx.signal;
  }
  now(): number {
    return this.ctx.services.clock.now();
  }
  warn(sentence: string): void {
    this.ctx.services.paging.warn(sentence, this.place);
  }
}
