import { PorticoError } from "../core/error.ts";
import { isPromise, type MaybePromise } from "../core/maybe-promise.ts";
import type { Page } from "../pagination/strategies/strategy.ts";
import type { HttpContext } from "./context.ts";
import { ValidationFailed } from "./exceptions.ts";
import { compose } from "./middleware.ts";
import { answer, statusOf } from "./respond.ts";
import type { OutgoingResponse } from "./response.ts";
import type { ResponseSchemas, Route } from "./route.ts";
import { isSchema, type Schema, validate } from "./schema.ts";

/** What a compiled route does with a request: when it ends, the context's response says what to send. */
export type RunRoute = (ctx: HttpContext) => MaybePromise<void>;

/** Compiles a route once: its middleware around its gate, its schemas, its dependencies and its handler. */
export function compileRoute(route: Route): RunRoute {
  const { auth, params, schemas, response, paginated, handler } = route;
  const isPlain =
    auth === undefined &&
    params.length === 0 &&
    response === undefined &&
    paginated === undefined &&
    Object.values(schemas).every((entry) => entry === undefined);
  return compose<HttpContext>(route.middleware, isPlain ? runPlain : runFull);

  /** Most routes: without a promise when the handler needs none. */
  function runPlain(ctx: HttpContext): MaybePromise<void> {
    const { outgoing } = ctx;
    outgoing.mark();
    const result = handler(new Ambient(ctx));
    return isPromise(result)
      ? Promise.resolve(result).then((value) => answer(outgoing, value))
      : answer(outgoing, result);
  }

  async function runFull(ctx: HttpContext): Promise<void> {
    const { outgoing } = ctx;
    outgoing.mark();
    if (auth !== undefined) await auth.check(ctx);
    const request = ctx.incoming;
    if (schemas.path !== undefined) request.accept("params", await checkPart(schemas.path, request.params, "path"));
    if (schemas.query !== undefined) request.accept("query", await checkPart(schemas.query, request.query, "query"));
    if (schemas.body !== undefined) request.accept("body", await checkPart(schemas.body, await request.json(), "body"));
    const args = new Ambient(ctx);
    if (params.length > 0) await ctx.dependencies.fill(params, args as unknown as Record<string, unknown>);
    answer(outgoing, await handler(args));
    if (response !== undefined) await checkAnswer(response, outgoing);
    if (paginated !== undefined) await checkItems(paginated.item, outgoing);
  }
}

/** The names that every handler has. Getters: what is not destructured is not computed. */
class Ambient {
  readonly ctx: HttpContext;
  readonly context: HttpContext;

  constructor(ctx: HttpContext) {
    this.ctx = ctx;
    this.context = ctx;
  }
  get request(): unknown {
    return this.ctx.incoming;
  }
  get response(): unknown {
    return this.ctx.outgoing;
  }
  get user(): unknown {
    return this.ctx.user;
  }
  get body(): unknown {
    return this.ctx.incoming.body;
  }
  get query(): unknown {
    return this.ctx.incoming.query;
  }
  get path(): unknown {
    return this.ctx.incoming.params;
  }
}

/** Puts one part of the request through its schema; 422 says what does not fit. */
export function checkPart(schema: Schema, value: unknown, part: "path" | "query" | "body"): MaybePromise<unknown> {
  return validate(schema, value, (issues) => new ValidationFailed(part, issues));
}

/** What is sent is what the schema makes of it: a property that it does not know stays here. */
async function checkAnswer(schemas: ResponseSchemas, outgoing: OutgoingResponse): Promise<void> {
  const { body } = outgoing;
  const status = statusOf(outgoing);
  const schema = isSchema(schemas) ? schemas : schemas[status];
  if (body?.kind === "none" && schema === undefined) return;
  if (body?.kind !== "json")
    throw new ResponseInvalid(`the handler answered ${status} without the JSON that its response schema asks for`);
  if (schema === undefined)
    throw new ResponseInvalid(`the handler answered ${status}, for which no response schema is declared`);
  const refuse = (issues: readonly { readonly message: string }[]): Error =>
    new ResponseInvalid(
      `the handler's answer does not fit its response schema: ${issues.map(({ message }) => message).join("; ")}`,
    );
  outgoing.json(await validate(schema, body.value, refuse));
}

/** The same for the items of a page. */
async function checkItems(item: Schema, outgoing: OutgoingResponse): Promise<void> {
  const { body } = outgoing;
  const page = body?.kind === "json" ? (body.value as Partial<Page<unknown, unknown>> | null) : null;
  if (!Array.isArray(page?.items))
    throw new ResponseInvalid("the handler of a paginated route answered without response.paginate");
  const refuse = (issues: readonly { readonly message: string }[]): Error =>
    new ResponseInvalid(`an item does not fit its schema: ${issues.map(({ message }) => message).join("; ")}`);
  const items: unknown[] = [];
  for (const entry of page.items as readonly unknown[]) {
    const checked = validate(item, entry, refuse);
    items.push(isPromise(checked) ? await checked : checked);
  }
  outgoing.json({ ...page, items });
}

/** A handler answered something else than its route promises. The client learns nothing but that it failed. */
class ResponseInvalid extends PorticoError {
  override readonly name: string = "ResponseInvalid";
  constructor(message: string) {
    super("RESPONSE_INVALID", message);
  }
}
