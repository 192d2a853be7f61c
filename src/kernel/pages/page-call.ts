import type { Slotted } from "../../core/feature-slot.ts";
import { andThen, isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { AnyHandler } from "../../pagination/handlers/data-handler.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import { asHandler } from "../../pagination/handlers/sync-list-data-handler.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import { paginate } from "../../pagination/pages/paginate.ts";
import { encodeUrl } from "../../pagination/query/links.ts";
import type { QueryParams } from "../../pagination/query/query-params.ts";
import type { Page } from "../../pagination/strategies/base-pagination-strategy.ts";
import { checkShown } from "../../pagination/strategies/client-columns.ts";
import { type AnyStrategy, strategyOf } from "../../pagination/strategies/strategy-by-name.ts";
import { ContextPageRequest, type PageContext } from "./context-page-request.ts";
import { routeListOf } from "./route-list.ts";

/** The parts of a request's context that pagination needs. */
interface RouteContext extends PageContext, Slotted {
  readonly pattern: string;
  readonly exchange: {
    readonly query: QueryParams;
    readonly target: string;
    readonly protocol: string;
    readonly host: string;
  };
}

/** A page that is being read, and the strategy that it is requested with. */
export interface PageCall {
  readonly strategy: AnyStrategy;
  /** A promise if the handler is asynchronous, or if the rule of the list has to wait. */
  readonly page: MaybePromise<Page<unknown, object>>;
}

/** Reads the arguments of `paginate` and `apaginate`, and starts to read the page. */
export function pageCall(ctx: RouteContext, method: string, data: unknown, options: unknown): PageCall {
  const { strategy, dataHandler, cursorScope, ...others } = (options ?? {}) as Readonly<Record<string, unknown>>;
  const chosen = strategyOf(strategy, others);
  ctx.services.paging.checkDeclared(ctx.pattern, chosen);
  // A handler may use another strategy than its route declares, which was checked at startup.
  const list = routeListOf.of(ctx);
  checkShown(ctx.pattern, chosen, list?.shown ?? null);
  const handler = handlerOf(method, dataHandler ?? data);
  const request = new RoutePageRequest(ctx, cursorScope as PageRequest["cursorScope"]);
  if (list === null || list.scope === null) return { strategy: chosen, page: paginate(chosen, handler, request) };
  list.isScoped = true;
  const scope = list.scope();
  const scopedPage = (found: ListScope): MaybePromise<Page<unknown, object>> => {
    request.scope = found;
    return paginate(chosen, handler, request);
  };
  return { strategy: chosen, page: andThen(scope, scopedPage) };
}

function handlerOf(method: string, data: unknown): AnyHandler<unknown> {
  const handler = asHandler(data);
  if (handler !== null) return handler;
  if (isPromise(data)) throw new TypeError(`response.${method} was given a promise: await the data first`);
  throw new TypeError(`response.${method} requires a list or a data handler, as its first argument or as dataHandler`);
}

/** A request for a page from a route. It has getters, so that values which a strategy does not need are not computed. */
class RoutePageRequest extends ContextPageRequest<RouteContext> {
  constructor(ctx: RouteContext, cursorScope: PageRequest["cursorScope"]) {
    super(ctx, cursorScope);
    ctx.services.paging.checkPublicUrl();
  }
  /** The query as it was sent; the output of its schema is for the handler. */
  override get params(): QueryParams {
    return this.ctx.exchange.query;
  }
  override get baseUrl(): string {
    const { exchange, services } = this.ctx;
    const path = exchange.target.split("?", 1)[0] as string;
    return encodeUrl(`${services.publicUrl ?? this.#origin()}${path}`);
  }
  get search(): string {
    const { target } = this.ctx.exchange;
    const start = target.indexOf("?");
    return start < 0 ? "" : target.slice(start + 1);
  }
  override get place(): string {
    return this.ctx.pattern;
  }

  #origin(): string {
    const { protocol, host } = this.ctx.exchange;
    return `${protocol === "https" ? "https" : "http"}://${host}`;
  }
}
