import type { StandardSchemaV1 } from "@standard-schema/spec";
import { andThen, isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { Page } from "../../pagination/strategies/base-pagination-strategy.ts";
import { listScopeOf } from "../access/list-scope-of.ts";
import type { HttpContext } from "../context/http-context.ts";
import type { IncomingRequest } from "../context/portico-request.ts";
import type { OutgoingResponse } from "../context/portico-response.ts";
import { isSchema, type Schema, validate, valueOfNothing } from "../context/schema.ts";
import { ValidationFailed } from "../exceptions/http-exception.ts";
import { segmentKey } from "../exceptions/segment-key.ts";
import { compose } from "../routing/middleware.ts";
import { queryReader } from "../routing/query-reader.ts";
import type { ResponseSchemas, Route } from "../routing/route.ts";
import { statusOf, writeResult } from "./respond.ts";

/** A compiled route. When it ends, the context contains the response. */
export type RunRoute = (ctx: HttpContext) => MaybePromise<void>;

/** Compiles a route once: its middleware around its gate, schemas, dependencies and handler. */
export function compileRoute(route: Route): RunRoute {
  const { auth, params, schemas, response, paginated, handler } = route;
  const listGate = paginated?.rule ?? null;
  const isPlain =
    auth === undefined &&
    params.length === 0 &&
    response === undefined &&
    paginated === undefined &&
    Object.values(schemas).every((entry) => entry === undefined);
  const readQuery = schemas.query === undefined ? undefined : queryReader(schemas.query, paginated?.strategy);
  return compose<HttpContext>(route.middleware, isPlain ? runPlain : runFull);

  /** The path of most routes: without a promise if the handler needs none. */
  function runPlain(ctx: HttpContext): MaybePromise<void> {
    const { outgoing } = ctx;
    outgoing.mark();
    return andThen(handler(new Ambient(ctx)), (value) => writeResult(outgoing, value));
  }

  async function runFull(ctx: HttpContext): Promise<void> {
    const { outgoing } = ctx;
    outgoing.mark();
    if (auth !== undefined) await auth.check(ctx);
    let isRuleApplied = listGate === null;
    if (listGate !== null)
      ctx.pageScope = () => {
        isRuleApplied = true;
        return listScopeOf(listGate, ctx);
      };
    const request = ctx.incoming;
    if (schemas.path !== undefined) request.accept("params", await checkPart(schemas.path, request.params, "path"));
    if (schemas.query !== undefined && readQuery !== undefined)
      request.accept("query", await checkPart(schemas.query, readQuery(request.query), "query"));
    if (schemas.body !== undefined) request.accept("body", await checkBody(schemas.body, request));
    const args = new Ambient(ctx);
    if (params.length > 0) await ctx.dependencies.fill(params, args);
    writeResult(outgoing, await handler(args));
    if (!isRuleApplied)
      throw new ResponseInvalid(
        "the handler of a route with paginated.rule did not respond with response.paginate(), which applies the rule",
      );
    if (response !== undefined) await checkAnswer(response, outgoing);
    if (paginated !== undefined) await checkItems(paginated.item, outgoing);
  }
}

/** The names that every handler receives. They are getters, so that only those which are destructured are computed. */
class Ambient {
  readonly ctx: HttpContext;
  readonly context: HttpContext;
  /** The parameters that the route declares. */
  [name: string]: unknown;

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

/** Validates one part of the request with its schema; the 422 lists the issues. */
export function checkPart(schema: Schema, value: unknown, part: "path" | "query" | "body"): MaybePromise<unknown> {
  return validate(schema, value, (issues) => new ValidationFailed(part, issues));
}

/** The body may be missing if its schema accepts `undefined`; otherwise it must be JSON. */
async function checkBody(schema: Schema, request: IncomingRequest): Promise<unknown> {
  const nothing = request.isBodyMissing ? await valueOfNothing(schema) : null;
  return nothing === null ? checkPart(schema, await request.json(), "body") : nothing.value;
}

/** Sends the output of the schema, so that properties unknown to it never leave the process. */
async function checkAnswer(schemas: ResponseSchemas, outgoing: OutgoingResponse): Promise<void> {
  const { body } = outgoing;
  const status = statusOf(outgoing);
  const schema = isSchema(schemas) ? schemas : schemas[status];
  if (body?.kind === "none" && (schema === undefined || schema === null)) return;
  if (schema === null)
    throw new ResponseInvalid(`the handler returned status ${status} with a body, but its response schema is null`);
  if (body?.kind !== "json")
    throw new ResponseInvalid(
      `the handler returned status ${status} without the JSON that its response schema requires`,
    );
  if (schema === undefined)
    throw new ResponseInvalid(`the handler returned status ${status}, but no response schema is declared for it`);
  const refuse = (issues: readonly StandardSchemaV1.Issue[]): Error =>
    new ResponseInvalid(`the response does not match its schema: ${describeIssues(issues)}`);
  outgoing.json(await validate(schema, body.value, refuse));
}

/** Sends the output of the item schema for each item of a page. */
async function checkItems(item: Schema, outgoing: OutgoingResponse): Promise<void> {
  const { body } = outgoing;
  const page = body?.kind === "json" ? (body.value as Partial<Page<unknown, unknown>> | null) : null;
  if (!Array.isArray(page?.items))
    throw new ResponseInvalid("the handler of a paginated route did not respond with response.paginate()");
  const items: unknown[] = [];
  const refuse = (issues: readonly StandardSchemaV1.Issue[]): Error =>
    new ResponseInvalid(`an item does not match its schema: ${describeIssues(issues, ["items", items.length])}`);
  for (const entry of page.items as readonly unknown[]) {
    const checked = validate(item, entry, refuse);
    items.push(isPromise(checked) ? await checked : checked);
  }
  outgoing.json({ ...page, items });
}

/** Each issue with its path: `items.3.author.name: expected string`. */
function describeIssues(issues: readonly StandardSchemaV1.Issue[], root: readonly (string | number)[] = []): string {
  return issues
    .map(({ message, path = [] }) => {
      const place = [...root, ...path.map(segmentKey)].join(".");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}

/** A handler returned something that its route does not declare. The client only learns that it failed. */
class ResponseInvalid extends PorticoError {
  override readonly name: string = "ResponseInvalid";
  constructor(message: string) {
    super("RESPONSE_INVALID", message);
  }
}
