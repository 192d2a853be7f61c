import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  flag,
  listOf,
  type OptionRule,
  objectRule,
  optionRule,
  REFUSED,
  resolveOptions,
  seconds,
  text,
  textList,
  wholeNumber,
} from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import { type ParamPlan, planParams } from "../../dependencies/param-plan.ts";
import { type CheckSubjects, type GivenOf } from "../../dependencies/subject.ts";
import type { Gate, GateScope, GateUser, RoutePlace } from "../../kernel/access/gate.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import {
  authRule,
  type RouteAuth,
  readListGate,
  readRouteGate,
  type WrittenAuth,
} from "../../kernel/access/read-gate.ts";
import type { RouteGiven } from "../../kernel/context/depend.ts";
import { type HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { MiddlewareFunction, ProductionNeeds } from "../../kernel/context/middleware-function.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { PorticoResponse, TypedResponse } from "../../kernel/context/portico-response.ts";
import type { RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import {
  type Idempotent,
  type IdempotentOption,
  idempotentRule,
  readIdempotent,
} from "../../kernel/idempotency/idempotent.ts";
import type { ResponseStore } from "../../kernel/idempotency/response-store.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import { checkShown } from "../../pagination/strategies/client-columns.ts";
import type { ShownKind } from "../../pagination/strategies/shown-kind.ts";
import { type AnyStrategy, type PageOf, strategyOf } from "../../pagination/strategies/strategy-by-name.ts";
import { itemColumns } from "./item-columns.ts";
import { type Middleware, middlewareFunctions } from "./middleware.ts";
import type { PathParams } from "./path-params.ts";
import { isSchema, type Schema, type SchemaInput, type SchemaOutput, schemaRule } from "./schema.ts";

// ---- the options, generic in their parts: a single generic object would accept `atuh`

/** One schema for every response, or one per status; `null` for a status without a body. */
export type ResponseSchemas = Schema | { readonly [status: number]: Schema | null };

/** The errors of a route by status, described for the OpenAPI document: `{ 409: "The title is taken" }`. */
export interface RouteErrors {
  readonly [status: number]: string;
}

/** The pages that a route responds with. */
export interface PaginatedRoute<Item, Strategy> {
  /** The strategy that the handler passes to `paginate`. */
  readonly strategy: Strategy;
  /** A Standard Schema for one item. The output of the schema is sent. Required unless `response` describes the body. */
  readonly item?: Item;
  /**
   * The rule that decides about each row. The list has only the rows that it allows, and so have its total and its links.
   * @default all rows
   */
  readonly rule?: Gate<boolean, AuthScope, never>;
}

/** The types of a route: TypeScript infers each from the option of the same name, and the handler gets its argument from them. */
export interface RouteTypes {
  readonly auth: unknown;
  /** The return type of a gate function; `never` if `auth` is not a function. */
  readonly verdict: unknown;
  readonly params: object;
  readonly body: Schema | undefined;
  readonly query: Schema | undefined;
  readonly path: Schema | undefined;
  readonly response: ResponseSchemas | undefined;
  /** The two types of `paginated`. */
  readonly item: Schema | undefined;
  readonly strategy: unknown;
}
/** The types of a route without options, in a router with this `auth`. */
export interface PlainRouteTypes<A = never> extends RouteTypes {
  readonly auth: A;
  readonly verdict: never;
  readonly params: {};
  readonly body: undefined;
  readonly query: undefined;
  readonly path: undefined;
  readonly response: undefined;
  readonly item: undefined;
  readonly strategy: undefined;
}

/** The options of a route. */
export interface RouteOptions<T extends RouteTypes, Url extends string = string> {
  /**
   * Decides before the body is read. `true` requires a signed-in user. A function decides for signed-in users, with
   * `{ request, path, query, ctx }` as its second parameter: the path and the query as the handler receives them. `false` drops
   * the gate of the router.
   */
  readonly auth?: RouteAuth<
    T["auth"],
    T["verdict"],
    RoutePlace<SchemaOutput<T["path"], PathParams<Url> & RawPath>, SchemaOutput<T["query"], RawQuery>>
  >;
  /** Dependencies, contexts, and objects made by `authorized`, which the handler receives by name. */
  readonly params?: T["params"] &
    CheckSubjects<
      NoInfer<T["params"]>,
      RouteGiven<
        SchemaOutput<T["path"], PathParams<Url>>,
        SchemaOutput<T["query"], RawQuery>,
        SchemaOutput<T["body"], unknown>
      >
    >;
  /** Standard Schemas; each types the value that the handler receives. An invalid value is rejected with 422. */
  readonly body?: T["body"];
  readonly query?: T["query"];
  readonly path?: T["path"];
  /** The types that the handler may return. The output of the schema is sent. */
  readonly response?: T["response"];
  /** Declares that the handler responds with pages, and of which items, for TypeScript and the OpenAPI document. */
  readonly paginated?: PaginatedRoute<T["item"], T["strategy"]>;
  /** The errors that the handler throws, by status, described for the OpenAPI document. */
  readonly errors?: RouteErrors;
  /** Runs inside the middleware of the app and the router. */
  readonly middleware?: readonly Middleware[];
  /**
   * Whether the body may also be a form (`application/x-www-form-urlencoded`), whose fields are texts as in a query. Pages of other
   * origins can send forms without asking, so `portico audit` warns of it. @default false
   */
  readonly forms?: boolean;
  /** The maximum size of the body. @default the app's `maxBody` */
  readonly maxBody?: Size;
  /** The time limit for the handler, in seconds; 0 disables the limit. @default the app's `timeouts.handlerSeconds` */
  readonly timeoutSeconds?: number;
  /** The units that a request takes from the `budget` of its caller; 0 makes it free. @default 1 */
  readonly cost?: number;
  /**
   * The transaction of the work, made by `transaction(database)`. A client may then send `Idempotency-Key`: the work of all requests
   * with one key is done once, and each of them gets the same response. The route needs `auth` for signed-in users, `response`,
   * and the transaction in `params`. @default keys have no effect
   */
  readonly idempotent?: IdempotentOption;
  /** The operation's id in the OpenAPI document. */
  readonly name?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** `false` leaves the route out of the OpenAPI document. @default true */
  readonly openapi?: boolean;
}

// ---- the handler

/** The names that every handler receives without declaring them. */
export interface HandlerAmbient<U, S, Path, Body, Query> {
  readonly ctx: HttpContext<U>;
  readonly context: HttpContext<U>;
  readonly request: PorticoRequest<U, S, Path, Body, Query>;
  readonly response: PorticoResponse;
  readonly user: U;
  readonly body: Body;
  readonly query: Query;
  readonly path: Path;
}
/** The object that a handler receives. */
export type HandlerArgs<Url extends string, T extends RouteTypes> = {
  readonly [K in keyof T["params"]]: GivenOf<T["params"][K]>;
} & HandlerAmbient<
  GateUser<T["auth"]>,
  GateScope<T["auth"]>,
  SchemaOutput<T["path"], PathParams<Url>>,
  SchemaOutput<T["body"], unknown>,
  SchemaOutput<T["query"], RawQuery>
>;

/** By distribution, not by a mapped type, through which TypeScript would infer `Answer` backwards, past `NoInfer`. */
export type StatusAnswer<Answer, S = keyof Answer> = S extends keyof Answer
  ? Answer[S] extends null
    ? TypedResponse<null, S & number> | (S extends 204 ? undefined : never)
    : TypedResponse<SchemaInput<Answer[S]>, S & number> | (S extends 200 ? SchemaInput<Answer[S]> : never)
  : never;
/** The return type of a handler: anything, the input of its `response` schema, or a page of its `paginated` items. */
// `undefined` comes first: during inference TypeScript instantiates this with `never`, which is assignable to everything.
export type HandlerAnswer<Answer, Item, Strategy> = [Item] extends [undefined]
  ? [Answer] extends [undefined]
    ? [Strategy] extends [undefined]
      ? unknown
      : { readonly "paginated requires item, or response for another body": never }
    : [Answer] extends [Schema]
      ? SchemaInput<Answer> | TypedResponse<SchemaInput<Answer>>
      : StatusAnswer<Answer>
  : TypedResponse<PageOf<SchemaInput<Item>, Strategy>>;

/** A handler, sync or async. It returns a response or any JSON value. */
export type Handler<Url extends string, T extends RouteTypes = PlainRouteTypes> = (
  args: HandlerArgs<Url, T>,
) => MaybePromise<HandlerAnswer<T["response"], T["item"], T["strategy"]>>;

// ---- the declared route

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";

/** The pages of a route, with its strategy resolved. */
interface DeclaredPages {
  readonly strategy: AnyStrategy;
  /** `null` if the route's `response` describes the body, and the page is a part of it. */
  readonly item: Schema | null;
  readonly rule: GateNode | null;
  /** The columns that `item` returns unchanged; `null` without `item`. */
  readonly shown: ReadonlyMap<string, ShownKind | null> | null;
}

/** A declared route, validated. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly handler: (args: object) => unknown;
  readonly auth: Gate | undefined;
  /** Whether `auth: false` drops the gate of its router. */
  readonly isOpen: boolean;
  readonly params: readonly ParamPlan[];
  readonly schemas: {
    readonly body: Schema | undefined;
    readonly query: Schema | undefined;
    readonly path: Schema | undefined;
  };
  readonly response: ResponseSchemas | undefined;
  readonly paginated?: DeclaredPages;
  readonly errors: RouteErrors;
  /** Whether it returns lists with cursors without declaring `paginated`, such as a GraphQL endpoint with connections. */
  readonly hasCursors?: boolean;
  readonly middleware: readonly MiddlewareFunction[];
  /** The needs of its handler in production, besides those of the middleware. */
  readonly needs?: readonly ProductionNeeds[];
  /** Whether the body may also be a form. */
  readonly forms?: boolean;
  readonly maxBody: number | undefined;
  readonly timeoutSeconds: number | undefined;
  /** The units that a request takes from the budget of its caller. */
  readonly cost: number;
  /** How requests with an idempotency key are answered once. */
  readonly idempotent?: Idempotent;
  /** The tables of stored responses that its operations use, for a GraphQL endpoint. */
  readonly responseStores?: readonly ResponseStore[];
  readonly description: RouteDescription;
  /** How errors without an exception handler are rendered; a problem by default. */
  readonly renderError?: RenderError;
  /** The `Graph` that it serves, for tools that inspect the application. This layer does not know GraphQL. */
  readonly graph?: object;
  /** Whether Portico declared it, such as a route of accounts, for tools that inspect the application. */
  readonly isBuiltIn?: boolean;
  /** Its name in the banner of `portico dev`, for a page that a developer opens. */
  readonly pageName?: string;
}

/** The texts of a route in the OpenAPI document. */
interface RouteDescription {
  readonly name: string | undefined;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  readonly isListed: boolean;
}

const params = objectRule<Readonly<Record<string, unknown>>>("an object of Depend(...) and contexts");
const responses: OptionRule<ResponseSchemas> = {
  expected: "a Standard Schema, or one per status from 200 to 599, or null for a status without a body",
  read: (value) => (isSchema(value) || isByStatus(value) ? value : REFUSED),
};
function isByStatus(value: unknown): value is { readonly [status: number]: Schema | null } {
  const entries = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  return (
    entries.length > 0 &&
    entries.every(([status, entry]) => /^[2-5]\d\d$/.test(status) && (entry === null || isSchema(entry)))
  );
}
const errors: OptionRule<RouteErrors> = optionRule(
  "an object of descriptions by status from 400 to 599",
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([status, words]) => /^[45]\d\d$/.test(status) && typeof words === "string"),
);

interface WrittenPages {
  readonly strategy: unknown;
  readonly item?: Schema;
  readonly rule?: unknown;
}

const pages: OptionRule<WrittenPages> = {
  expected: 'an object with strategy and item, such as { strategy: "page_number", item: Book }, where item is a schema',
  read: (value) => {
    const { strategy, item, rule: _rule, ...others } = (value ?? {}) as Partial<WrittenPages>;
    const isComplete =
      (item === undefined || isSchema(item)) && strategy !== undefined && Object.keys(others).length === 0;
    return isComplete ? (value as WrittenPages) : REFUSED;
  },
};

const routeRules = {
  auth: authRule,
  params,
  body: schemaRule,
  query: schemaRule,
  path: schemaRule,
  response: responses,
  paginated: pages,
  errors,
  middleware: listOf<Middleware>("a list of middleware", () => true),
  forms: flag,
  maxBody: size,
  timeoutSeconds: seconds,
  cost: wholeNumber,
  idempotent: idempotentRule,
  name: text,
  summary: text,
  description: text,
  tags: textList("a list of strings"),
  deprecated: flag,
  openapi: flag,
} as const;

/** The options that a socket route has too. */
export const sharedRules: {
  readonly auth: OptionRule<WrittenAuth>;
  readonly params: OptionRule<Readonly<Record<string, unknown>>>;
  readonly query: OptionRule<Schema>;
  readonly path: OptionRule<Schema>;
  readonly middleware: OptionRule<readonly Middleware[]>;
} = {
  auth: routeRules.auth,
  params: routeRules.params,
  query: schemaRule,
  path: schemaRule,
  middleware: routeRules.middleware,
};

function declarePages(owner: string, hasResponse: boolean, written: WrittenPages): DeclaredPages {
  const { strategy, item = null, ...others } = written;
  if (item !== null && hasResponse)
    throw new ConfigurationError(`${owner}.paginated.item`, "cannot be combined with response: remove one of the two");
  if (item === null && !hasResponse)
    throw new ConfigurationError(`${owner}.paginated.item`, "is required unless response describes the body");
  const rule = "rule" in others ? readListGate(`${owner}.paginated.rule`, others.rule) : null;
  const pages = {
    strategy: strategyOf(strategy, {}, `${owner}.paginated.strategy`),
    item,
    rule,
    shown: item === null ? null : itemColumns(item),
  };
  checkShown(owner, pages.strategy, pages.shown);
  return pages;
}

/** The names in `RouteGiven`. */
const GIVEN = ["path", "query", "body", "ctx", "context"];

const HANDLER_NAMES = new Set(["request", "response", "user", "body", "query", "path", "socket"]);

/** Validates a route at its declaration. Every mistake is a `ConfigurationError` that names the route. */
export function declareRoute(method: Method, path: string, options: unknown, handler: unknown): Route {
  const owner = `${method} ${path}`;
  const read = resolveOptions(owner, options, routeRules);
  const params = planRouteParams(owner, read.params ?? {}, (context) => context !== WebSocketContext, GIVEN);
  if (typeof handler !== "function") throw new ConfigurationError(`${owner}: the handler`, "a function", handler);
  if (read.body !== undefined && method === "GET")
    throw new ConfigurationError(`${owner}.body`, "is not supported for this method");
  if (read.forms === true && read.body === undefined)
    throw new ConfigurationError(`${owner}.forms`, "requires body: its schema describes the fields");
  return {
    method,
    path,
    handler: handler as (args: object) => unknown,
    auth: readRouteGate(`${owner}.auth`, read.auth),
    isOpen: read.auth === false,
    params,
    schemas: { body: read.body, query: read.query, path: read.path },
    response: read.response,
    ...(read.paginated === undefined
      ? {}
      : { paginated: declarePages(owner, read.response !== undefined, read.paginated) }),
    errors: read.errors ?? {},
    middleware: middlewareFunctions(owner, read.middleware ?? []),
    ...(read.forms === true ? { forms: true } : {}),
    maxBody: read.maxBody,
    timeoutSeconds: read.timeoutSeconds,
    cost: read.cost ?? 1,
    ...(read.idempotent === undefined ? {} : { idempotent: declareIdempotent(owner, method, read, params) }),
    description: {
      name: read.name,
      summary: read.summary,
      description: read.description,
      tags: read.tags ?? [],
      deprecated: read.deprecated ?? false,
      isListed: read.openapi ?? true,
    },
  };
}

/** A stream cannot be stored, and neither can an upload be compared, so both are ruled out by their declaration. */
function declareIdempotent(
  owner: string,
  method: Method,
  {
    idempotent,
    response,
  }: Readonly<Record<"response", ResponseSchemas | undefined>> & { readonly idempotent: IdempotentOption | undefined },
  params: readonly ParamPlan[],
): Idempotent {
  const place = `${owner}.idempotent`;
  if (!["POST", "PUT", "PATCH", "DELETE"].includes(method))
    throw new ConfigurationError(place, "is not supported for this method, which changes nothing");
  if (response === undefined)
    throw new ConfigurationError(
      place,
      "requires response: the response is stored, so it must be JSON or empty, not a stream",
    );
  return readIdempotent(place, idempotent as IdempotentOption, params, false);
}

/** Plans the declared parameters of a handler; `fits` decides which contexts are available. */
export function planRouteParams(
  owner: string,
  declared: Readonly<Record<string, unknown>>,
  fits: (context: unknown) => boolean,
  given: readonly string[] | null,
): readonly ParamPlan[] {
  for (const [name, value] of Object.entries(declared)) {
    if (HANDLER_NAMES.has(name))
      throw new ConfigurationError(
        `${owner}: the parameter ${name}`,
        "is a name that every handler already has: choose another one",
      );
    if (!fits(value))
      throw new ConfigurationError(
        `${owner}: the parameter ${name}`,
        `is declared as ${(value as { name: string }).name}, which is not available in this route`,
      );
  }
  return planParams(owner, declared, given);
}
