import { DependencyScope } from "../../dependencies/dependency-scope.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import type { Identity } from "../../http/identity/identity.ts";
import type { Verdict } from "../fields/field-gate.ts";
import type { FieldPermission, GateFunction } from "../fields/field-options.ts";
import type { GraphQLDenied } from "../fields/graphql-denied.ts";
import type { FieldTrace } from "../hooks/field-trace.ts";
import { wrongTransport } from "./wrong-transport.ts";

/** What an operation is called and what it costs. */
export interface OperationFacts {
  /** `null` for an unnamed one. */
  readonly operationName: string | null;
  /** `null` while cost analysis is off. */
  readonly cost: number | null;
}

/**
 * The whole context object of an operation: graphql's own context value. A parameter that is declared as this class, under
 * any name, receives it; the connection's context is what `ctx` is.
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
export class GraphContext implements OperationFacts {
  static readonly "~instance": GraphContext = undefined as never;
  /** The context of the connection, as this operation sees it: what a resolver reads as `ctx`. */
  readonly connection: BaseContext;
  readonly operationName: string | null;
  readonly cost: number | null;
  #dependencies: DependencyScope | null = null;
  #verdicts: Map<GateFunction | FieldPermission, Map<unknown, Verdict>> | null = null;
  /** Whom the verdicts are about. */
  #judged: Identity | null = null;
  #isClosed = false;
  /** @internal Whether it was given up: no field is resolved any more. */
  isOver = false;
  /** @internal Asks the gate of a subscription again, in the operation that it is given; `null` where there is none. */
  denialSince: ((now: GraphContext) => Promise<GraphQLDenied | null>) | null = null;
  /** @internal Times its fields. */
  readonly trace: FieldTrace | null;

  /** @internal */
  constructor(connection: BaseContext, facts: OperationFacts, trace: FieldTrace | null = null) {
    this.connection = connection;
    this.operationName = facts.operationName;
    this.cost = facts.cost;
    this.trace = trace;
  }

  /** @internal One value per callable for the whole operation; made when the first field asks. */
  get dependencies(): DependencyScope {
    if (this.#dependencies === null) {
      this.#dependencies = new DependencyScope(this.connection, {
        shared: true,
        overrides: this.connection.services.overrides,
        otherContext: (declared, parameter) => wrongTransport(declared, parameter, this.connection),
      });
      // A field that is still running after the answer finds a scope that opens nothing.
      if (this.#isClosed) void this.#dependencies.close();
    }
    return this.#dependencies;
  }

  /** @internal What a gate has said so far, by the object it was asked about; `undefined` for one of the user alone. */
  verdictsOf(gate: GateFunction | FieldPermission): Map<unknown, Verdict> {
    const { identity } = this.connection;
    // A mutation may sign somebody else in: what was allowed to one user says nothing of another.
    if (this.#verdicts === null || this.#judged !== identity) this.#verdicts = new Map();
    this.#judged = identity;
    const known = this.#verdicts.get(gate);
    if (known !== undefined) return known;
    const verdicts = new Map<unknown, Verdict>();
    this.#verdicts.set(gate, verdicts);
    return verdicts;
  }

  /** @internal Closes the dependencies; `undefined` when there are none, else the errors of those that failed. */
  close(): undefined | Promise<readonly unknown[]> {
    this.#isClosed = true;
    return this.#dependencies === null ? undefined : this.#dependencies.close();
  }
}
