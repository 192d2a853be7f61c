import type { Clock } from "../../core/clock.ts";
import type { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import type { QueryParams } from "../../pagination/query/query-params.ts";
import type { Paging } from "./paging.ts";

/** The parts of a context that pagination needs. */
export interface PageContext {
  readonly services: { readonly paging: Paging; readonly clock: Clock; readonly publicUrl: string | null };
  readonly signal: AbortSignal;
}

/** A request for a page on a connection, from a route or a field. */
export abstract class ContextPageRequest<C extends PageContext> implements PageRequest {
  abstract readonly params: QueryParams;
  abstract readonly baseUrl: string;
  abstract readonly place: string;
  readonly cursorScope?: Readonly<Record<string, unknown>>;
  /** Set before the page is read, because finding it may have to wait. */
  scope?: ListScope;
  protected readonly ctx: C;

  constructor(ctx: C, cursorScope: PageRequest["cursorScope"], scope?: ListScope) {
    this.ctx = ctx;
    if (scope !== undefined) this.scope = scope;
    if (cursorScope !== undefined) this.cursorScope = cursorScope;
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
