import type { CompiledQuery, DatabaseConnection, Driver, Kysely, QueryResult } from "kysely";
import { loggable } from "../../../core/describe-error.ts";
import { currentContext } from "../../../kernel/context/current-context.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { reporting } from "../../../kernel/context/reporting.ts";
import { statementKind } from "../postgres/statement-kind.ts";
import { sourceHere } from "./read-from.ts";
import type { Replica } from "./replica.ts";
import type { ReplicaSet } from "./replica-set.ts";
import type { WritePositions } from "./write-positions.ts";

/** How long a request keeps its server, so that its lists agree. A stream may last for hours, so it then chooses again. */
const KEPT_MS = 1_000;

/** The server of a request; `null` for the primary. */
interface Choice {
  readonly replica: Promise<Replica | null>;
  readonly until: number;
}

/** A driver without connections: it passes each statement to a replica that is recent enough for the caller, or to the primary. */
export class ReplicaReads implements Driver, DatabaseConnection {
  readonly #primary: Kysely<any>;
  readonly #replicas: ReplicaSet;
  readonly #positions: WritePositions;
  readonly #choices = new WeakMap<BaseContext, Choice>();

  constructor(primary: Kysely<any>, replicas: ReplicaSet, positions: WritePositions) {
    this.#primary = primary;
    this.#replicas = replicas;
    this.#positions = positions;
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }
  async releaseConnection(): Promise<void> {}
  async beginTransaction(): Promise<void> {
    throw new Error("replica() has no transactions: begin one on the database");
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}

  async destroy(): Promise<void> {}

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const replica = await this.#serverFor(query);
    if (replica === null) return this.#primary.executeQuery<R>(query);
    return replica.run<R>(query, this.#primary);
  }

  async *streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    const replica = await this.#serverFor(query);
    if (replica === null) yield* this.#primary.getExecutor().stream<R>(query, chunkSize);
    else yield* replica.stream<R>(query, chunkSize, this.#primary);
  }

  async #serverFor({ query, sql }: CompiledQuery): Promise<Replica | null> {
    const ctx = currentContext();
    const source = sourceHere();
    this.#replicas.start(ctx?.log ?? null);
    reporting()?.parts.add(this.#replicas);
    if (source === "primary" || (query.kind !== "SelectQueryNode" && statementKind(sql) !== "read")) return null;
    if (source === "replica") return this.#replicas.pick(0n);
    // Without a caller, it is unknown which writes must be visible.
    if (ctx === null || this.#mustBeCurrent(ctx)) return null;
    const replica = await this.#choiceOf(ctx);
    return replica === null || !this.#replicas.has(replica, 0n) || this.#mustBeCurrent(ctx) ? null : replica;
  }

  #mustBeCurrent(ctx: BaseContext): boolean {
    return ctx.followsEvents || this.#positions.hasWritten(ctx);
  }

  #choiceOf(ctx: BaseContext): Promise<Replica | null> {
    const known = this.#choices.get(ctx);
    if (known !== undefined && performance.now() < known.until) return known.replica;
    const replica = this.#choose(ctx);
    this.#choices.set(ctx, { replica, until: performance.now() + KEPT_MS });
    return replica;
  }

  async #choose(ctx: BaseContext): Promise<Replica | null> {
    const { cluster } = this.#replicas;
    if (cluster === null || !this.#replicas.isUsable) return null;
    try {
      return this.#replicas.pick(await this.#positions.of(ctx, cluster));
    } catch (err) {
      ctx.log.warn(
        { err: loggable(err) },
        "failed to read the position of the caller's last write: the primary is read",
      );
      return null;
    }
  }
}
