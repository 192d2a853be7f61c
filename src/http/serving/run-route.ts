import { finished } from "node:stream";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { andThen, isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { admission } from "../../kernel/access/gate-of.ts";
import { listScopeOf } from "../../kernel/access/list-scope-of.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { Incoming, Outgoing } from "../../kernel/context/messages.ts";
import { BadRequest } from "../../kernel/exceptions/http-exception.ts";
import { segmentKey } from "../../kernel/exceptions/segment-key.ts";
import type { Budget } from "../../kernel/limits/budget.ts";
import { chargeOf } from "../../kernel/limits/charge.ts";
import { routeListOf } from "../../kernel/pages/route-list.ts";
import type { Page } from "../../pagination/strategies/base-pagination-strategy.ts";
import { compose } from "../routing/middleware.ts";
import { queryReader } from "../routing/query-reader.ts";
import type { ResponseSchemas, Route } from "../routing/route.ts";
import { placeOfRoute } from "../routing/router.ts";
import { isSchema, type Schema, validate, valueOfNothing } from "../routing/schema.ts";
import { checkPart, expecting, requestReader } from "./request-reader.ts";
import { statusOf, writeResult } from "./respond.ts";
import { runOnce } from "./run-once.ts";

/** A compiled route. When it ends, the context contains the response. */
export type RunRoute = (ctx: HttpContext) => MaybePromise<void>;

/** One step before or after the handler. An error that it throws is the response. */
type Step = (ctx: HttpContext, args: Ambient) => MaybePromise<void>;

/** Compiles a route once: its middleware around its gate, its charge, its schemas, dependencies and handler. */
export function compileRoute(route: Route, budget: Budget | null = null): RunRoute {
  const { handler, cost } = route;
  budget?.checkCost(placeOfRoute(route), cost, route.auth?.required === true);
  const charges = cost === 0 ? null : budget;
  const before = stepsBefore(route, charges);
  const inside = stepsInside(route, charges);
  const after = stepsAfter(route);
  const work = (ctx: HttpContext, args: Ambient): MaybePromise<void> =>
    andThen(runSteps(inside, ctx, args), () =>
      andThen(handler(args), (value) => {
        writeResult(ctx.outgoing, value);
        return runSteps(after, ctx, args);
      }),
    );
  const { idempotent } = route;
  const run: RunRoute = (ctx) => {
    ctx.outgoing.mark();
    const args = new Ambient(ctx);
    return andThen(runSteps(before, ctx, args), () =>
      idempotent === undefined ? work(ctx, args) : runOnce(ctx, idempotent, () => work(ctx, args)),
    );
  };
  const whole = compose<HttpContext>(route.middleware, charges === null ? run : (ctx) => runAndEndCharge(ctx, run));
  return expecting(route.schemas, whole);
}

async function runAndEndCharge(ctx: HttpContext, run: RunRoute): Promise<void> {
  try {
    await run(ctx);
  } finally {
    endCharge(ctx);
  }
}

/** The work of a streamed response ends with the stream. A stream of events mostly waits, as a subscription does. */
function endCharge(ctx: HttpContext): void {
  const charge = chargeOf.of(ctx);
  const { body, headers } = ctx.outgoing;
  if (body?.kind === "stream" && !/^text\/event-stream\b/i.test(String(headers["content-type"] ?? body.type)))
    finished(body.value, { writable: false }, () => charge?.end());
  else charge?.end();
}

/** Runs the steps in order, without a promise if none of them needs one. */
function runSteps(steps: readonly Step[], ctx: HttpContext, args: Ambient, from = 0): MaybePromise<void> {
  for (let at = from; at < steps.length; at++) {
    const running = (steps[at] as Step)(ctx, args);
    if (isPromise(running)) return Promise.resolve(running).then(() => runSteps(steps, ctx, args, at + 1));
  }
}

function stepsBefore(
  { auth, schemas, paginated, cost, idempotent, forms = false }: Route,
  budget: Budget | null,
): readonly Step[] {
  const steps: Step[] = [];
  const { body } = schemas;
  const takesNoBody = idempotent !== undefined && body === undefined;
  const listGate = paginated?.rule ?? null;
  const admit = admission(auth);
  const read = requestReader(schemas, paginated?.strategy);
  const reserve = (ctx: HttpContext): MaybePromise<void> => {
    if (budget === null) return;
    return andThen(budget.reserve(ctx, cost), (charge) => {
      chargeOf.put(ctx, charge);
    });
  };
  if (auth !== undefined || budget !== null || read !== null)
    steps.push((ctx) =>
      admit(
        ctx,
        () => reserve(ctx),
        () => read?.(ctx),
      ),
    );
  if (paginated !== undefined)
    steps.push((ctx) => {
      const scope = listGate === null ? null : () => listScopeOf(listGate, ctx);
      routeListOf.put(ctx, { shown: paginated.shown, scope, isScoped: false });
    });
  if (body !== undefined) {
    const check = forms ? formChecker(body) : checkBody;
    steps.push(({ incoming }) => andThen(check(body, incoming), (value) => incoming.accept("body", value)));
  }
  // A key is bound to the body of its request, which only a schema reads before the work begins.
  if (takesNoBody)
    steps.push(({ incoming }) => {
      if (!incoming.isBodyMissing) throw new BadRequest("This route takes no body");
    });
  return steps;
}

/** The steps of the work itself, which a request with an idempotency key does once. */
function stepsInside({ params, cost }: Route, budget: Budget | null): readonly Step[] {
  const steps: Step[] = [];
  // A request that was rejected so far costs nothing. Dependencies already do its work.
  if (budget !== null) steps.push((ctx) => chargeOf.of(ctx)?.use(cost));
  if (params.length > 0) steps.push((ctx, args) => ctx.dependencies.fill(params, args));
  return steps;
}

function stepsAfter({ response, paginated }: Route): readonly Step[] {
  const steps: Step[] = [];
  if ((paginated?.rule ?? null) !== null)
    steps.push((ctx) => {
      if (routeListOf.of(ctx)?.isScoped !== true)
        throw new ResponseInvalid(
          "the handler of a route with paginated.rule did not call response.paginate() or response.page(), which apply the rule",
        );
    });
  if (response !== undefined) steps.push(({ outgoing }) => checkAnswer(response, outgoing));
  const item = paginated?.item ?? null;
  if (item !== null) steps.push(({ outgoing }) => checkItems(item, outgoing));
  return steps;
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

/** The body may be missing if its schema accepts `undefined`; otherwise it must be JSON. */
function checkBody(schema: Schema, request: Incoming): MaybePromise<unknown> {
  const read = (): Promise<unknown> => request.json().then((value) => checkPart(schema, value, "body"));
  if (!request.isBodyMissing) return read();
  return andThen(valueOfNothing(schema), (nothing) => (nothing === null ? read() : nothing.value));
}

/** Accepts the fields of a form as well, which are texts and lists of texts, like the parameters of a query. */
function formChecker(schema: Schema): typeof checkBody {
  const fromText = queryReader(schema);
  return (body, request) => {
    if (!request.isForm) return checkBody(body, request);
    return request.form().then((form) => {
      const names = [...new Set(form.keys())];
      const fields = Object.fromEntries(
        names.map((name) => {
          const [first = "", ...others] = form.getAll(name) as string[];
          return [name, others.length === 0 ? first : [first, ...others]];
        }),
      );
      return checkPart(body, fromText(fields), "body");
    });
  };
}

/** Sends the output of the schema, so that properties unknown to it never leave the process. */
function checkAnswer(schemas: ResponseSchemas, outgoing: Outgoing): MaybePromise<void> {
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
  return andThen(validate(schema, body.value, refuse), (value) => {
    outgoing.json(value);
  });
}

/** Sends the output of the item schema for each item of a page. */
async function checkItems(item: Schema, outgoing: Outgoing): Promise<void> {
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
