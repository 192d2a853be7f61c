import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  type IntrospectionSchema,
  introspectionFromSchema,
  parse,
  validate,
} from "graphql";
import { AnonymousUser, HttpContext, memoryStores, type UserProtocol, WebSocketContext } from "portico";
import { systemClock } from "../../src/core/clock.ts";
import { Plan } from "../../src/graphql/execute/plan/plan.ts";
import { runOperation } from "../../src/graphql/run/run-operation.ts";
import { type ResultStream, runSubscription } from "../../src/graphql/run/run-subscription.ts";
import { httpMessages } from "../../src/http/messages/http-messages.ts";
import { authorize, can } from "../../src/kernel/access/authorize.ts";
import { Actors } from "../../src/kernel/identity/actors.ts";
import type { Identity } from "../../src/kernel/identity/identity.ts";
import { Paging } from "../../src/kernel/pages/paging.ts";

/** A user with these permissions. */
export function userNamed(identity: string, permissions: readonly string[] = []): UserProtocol {
  return {
    isAuthenticated: true,
    identity,
    displayName: identity,
    hasPermission: (permission) => permissions.includes(permission),
  };
}

export interface CallerOptions {
  readonly user?: UserProtocol;
  /** Why it is unknown who is calling. */
  readonly failure?: unknown;
  readonly headers?: Record<string, string>;
}

/** The context of a request as a server would make it, without a server. */
export function httpContext(options: CallerOptions = {}): HttpContext {
  return identify(new HttpContext(services() as never, exchange(options) as never, 1024), options);
}

/** The context of a socket, likewise. */
export function socketContext(options: CallerOptions = {}): WebSocketContext {
  return identify(new WebSocketContext(services() as never, exchange(options) as never, 1024), options);
}

/** Runs a query or mutation as the only operation of a request. */
export async function ask(
  schema: GraphQLSchema,
  source: string,
  options: CallerOptions & { readonly variables?: Record<string, unknown>; readonly ctx?: HttpContext } = {},
): Promise<ExecutionResult> {
  const document = parse(source);
  const errors = validate(schema, document);
  if (errors.length > 0) return { errors };
  const { variables = {}, ctx = httpContext(options) } = options;
  const execution = { schema, document, variables, plan: () => planOf(schema, document) };
  const { data, ...others } = await runOperation(ctx, execution, { isAlone: true });
  // graphql's objects have no prototype.
  return { ...others, ...(data === undefined ? {} : { data: JSON.parse(JSON.stringify(data)) as typeof data }) };
}

/** The data of a query that must not fail. */
export async function data(...args: Parameters<typeof ask>): Promise<Record<string, unknown>> {
  const result = await ask(...args);
  if (result.errors !== undefined)
    throw new Error(result.errors.map(({ message }) => message).join("; "), { cause: result.errors[0] });
  return result.data as Record<string, unknown>;
}

/** What introspection says of the types. */
export function introspectTypes(schema: GraphQLSchema): IntrospectionSchema["types"] {
  // oxlint-disable-next-line no-underscore-dangle -- graphql's own name
  return introspectionFromSchema(schema).__schema.types;
}

/** The fields of the query type as graphql has them. */
export function queryFields(
  schema: GraphQLSchema,
): Record<string, { readonly resolve: (...args: unknown[]) => unknown }> {
  return (schema.getQueryType() as GraphQLObjectType).getFields() as never;
}

/** The code of the only error, and where it stands. */
export function denial({ errors = [] }: ExecutionResult): unknown {
  return errors.map(({ path, extensions }) => `${path?.join(".") ?? ""} ${String(extensions["code"])}`).join(", ");
}

/** Starts a subscription. */
export function listen(
  schema: GraphQLSchema,
  source: string,
  ctx: HttpContext | WebSocketContext = socketContext(),
): Promise<ResultStream | ExecutionResult> {
  const document = parse(source);
  return runSubscription(ctx, { schema, document, plan: () => planOf(schema, document) });
}

/** The plan of the first operation. */
function planOf(schema: GraphQLSchema, document: DocumentNode): Plan | null {
  const operation = getOperationAST(document);
  return operation ? Plan.compile(schema, document, operation) : null;
}

function identify<C extends HttpContext | WebSocketContext>(ctx: C, { user, failure }: CallerOptions): C {
  const identity: Identity = { user: user ?? new AnonymousUser(), auth: user === undefined ? null : "jwt" };
  ctx.identity = failure === undefined ? identity : { ...identity, failure };
  return ctx;
}

const log = { error: () => {}, warn: () => {} };
// It derives its keys once.
const paging = new Paging(["a key for the cursors of these tests"], log as never, true);

function services(): object {
  return {
    slots: null,
    messages: httpMessages,
    decisions: { authorize, can },
    stores: memoryStores(),
    clock: systemClock,
    paging,
    publicUrl: null,
    debug: false,
    overrides: new Map(),
    log,
    actors: new Actors(systemClock),
  };
}

function exchange({ headers = {} }: CallerOptions): object {
  return {
    method: "POST",
    target: "/graphql",
    headers,
    params: {},
    query: {},
    ip: "127.0.0.1",
    host: "localhost",
    protocol: "http",
    onAbort: () => {},
  };
}
