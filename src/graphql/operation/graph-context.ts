import type { GraphQLResolveInfo } from "graphql";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { DependencyScope } from "../../dependencies/dependency-scope.ts";
import type { Verdicts } from "../../kernel/access/gate-question.ts";
import type { Verdict } from "../../kernel/access/refusal.ts";
import { type BaseContext, HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import { memoOf } from "../../kernel/context/memo-of.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { FieldTrace } from "./field-trace.ts";
import type { Followed } from "./positions.ts";
import { RolledBack } from "./rolled-back.ts";
import { SharedContext } from "./shared-context.ts";

/** The name and the cost of an operation. */
export interface OperationFacts {
  /** `null` for an unnamed one. */
  readonly operationName: string | null;
  /** `null` while cost analysis is off. */
  readonly cost: number | null;
}

type VerdictsByObject = Map<unknown, MaybePromise<Verdict>>;

/**
 * The context of an operation, which is graphql's context value. A parameter that is declared as this class receives it,
 * under any name. The parameter `ctx` is the context of the connection instead.
 *
 * @example
 * ```ts
 * import { field, GraphContext, t } from "portico/graphql";
 *
 * export const operation = field(t.nullable(t.string), { params: { graph: GraphContext } })(
 *   ({ graph }) => graph.operationName,
 * );
 * ```
 */
export class GraphContext implements OperationFacts, Verdicts {
  static readonly "~instance": GraphContext = undefined as never;
  /** The context of the connection, as this operation sees it. Resolvers receive it as `ctx`. */
  readonly connection: BaseContext;
  readonly operationName: string | null;
  readonly cost: number | null;
  #dependencies: DependencyScope | null = null;
  #refused: Set<string | number> | null = null;
  #isClosed = false;
  /** @internal The error for a check of the operation that nothing waited for. */
  forgottenCheck: Error | null = null;
  /** @internal Whether the operation was cancelled: no further field is resolved. */
  isOver = false;
  /** @internal Checks the gate of a subscription again, in the given operation; `null` if it has no gate. */
  denialSince: ((now: GraphContext) => Promise<Error | null>) | null = null;
  /** @internal Whether the event of a subscription is dropped, because its object is refused; `null` if it is never. */
  isDropped: ((event: unknown, now: GraphContext) => MaybePromise<boolean>) | null = null;
  /** @internal Returns the value of a subscription for one event of its topic, in the operation of that event; `null` without a topic. */
  mapEvent: ((event: unknown, now: GraphContext) => unknown) | null = null;
  /** @internal The position that the client of a subscription has sent; `null` without one. */
  resumeAfter: string | null = null;
  /** @internal The positions of a subscription; `null` if it can't be resumed. */
  followed: Followed | null = null;
  /** @internal Throws behind the gates of a mutation, if only they decide; `null` if it is executed. */
  endsAtGates: ((info: GraphQLResolveInfo) => never) | null = null;
  /** @internal The number of objects that were loaded, and refused by the gates of their types. */
  refusedObjects = 0;
  /** @internal The context value for the resolvers of an existing schema; `null` until one of them runs. */
  foreign: MaybePromise<object> | null = null;
  /** @internal Records how long its fields take. */
  readonly trace: FieldTrace | null;

  /** @internal */
  constructor(connection: BaseContext, facts: OperationFacts, trace: FieldTrace | null = null) {
    this.connection = connection;
    this.operationName = facts.operationName;
    this.cost = facts.cost;
    this.trace = trace;
  }

  /** @internal One value per callable for the whole operation; created for the first field that needs it. */
  get dependencies(): DependencyScope {
    if (this.#dependencies === null) {
      this.#dependencies = new DependencyScope(this.connection, {
        shared: true,
        overrides: this.connection.services.overrides,
        otherContext: (declared, parameter) => wrongTransport(declared, parameter, this.connection),
      });
      // A field that is still running after the response must not open anything.
      if (this.#isClosed) inBackground(this.#dependencies.close());
    }
    return this.#dependencies;
  }

  /** @internal The verdicts of a gate by the object that it checked; `undefined` is the key for a gate on the user alone. */
  verdictsOf(gate: object): VerdictsByObject {
    // By identity: a mutation may sign in as another user, to whom the earlier verdicts do not apply.
    const byGate = memoOf(this.connection, this.connection.identity, () => new Map<object, VerdictsByObject>());
    const known = byGate.get(gate);
    if (known !== undefined) return known;
    const verdicts: VerdictsByObject = new Map();
    byGate.set(gate, verdicts);
    return verdicts;
  }

  /** @internal The gates or the limit of a root field decide whether it may run. */
  awaitsGate({ path }: GraphQLResolveInfo): void {
    (this.#refused ??= new Set()).add(path.key);
  }

  /** @internal They have let it run. */
  beginsToRun({ path }: GraphQLResolveInfo): void {
    this.#refused?.delete(path.key);
  }

  /** @internal The root fields of a mutation that were refused before they ran, by their names in the response. */
  get refused(): ReadonlySet<string | number> {
    return this.#refused ?? NONE;
  }

  /**
   * @internal A root field of a mutation has failed, so that the operation will. No generator is opened any more: a transaction
   * would be rolled back in any case.
   */
  fail(): void {
    this.dependencies.openNoGenerators(() => new RolledBack());
  }

  /** @internal Keeps the first forgotten check so far, with the name of the operation. */
  noteForgottenCheck(): void {
    this.forgottenCheck ??= this.connection.forgottenCheck;
  }

  /** @internal Whether it has opened a generator, which learns the outcome and may roll back its work. */
  get hasGenerators(): boolean {
    return this.#dependencies?.hasGenerators ?? false;
  }

  /** @internal Closes the dependencies. Returns the errors of those that failed to close; `undefined` without dependencies. */
  close(): undefined | Promise<readonly unknown[]> {
    this.#isClosed = true;
    return this.#dependencies === null ? undefined : this.#dependencies.close();
  }
}

const NONE: ReadonlySet<string | number> = new Set();

/**
 * Returns the error for a resolver, or one of its dependencies, that declares the context of a transport other than the
 * operation's. Returns `null` if the transport is not the reason.
 */
function wrongTransport(declared: unknown, parameter: string, connection: BaseContext): HttpException | null {
  if (connection instanceof SharedContext)
    return new HttpException(
      500,
      "A subscription with { shared: true } runs once for all clients, so it cannot declare the context of a connection",
      { code: "SHARED_SUBSCRIPTION" },
    );
  if (declared === WebSocketContext)
    return new HttpException(
      400,
      `This operation requires a WebSocket: the parameter ${parameter} is a WebSocketContext`,
      {
        code: "OPERATION_NEEDS_SOCKET",
      },
    );
  if (declared === HttpContext)
    return new HttpException(400, `This operation requires HTTP: the parameter ${parameter} is an HttpContext`, {
      code: "OPERATION_NEEDS_HTTP",
    });
  return null;
}
