import { changeRecord, parseRecord } from "../../../auth/records/change-record.ts";
import { loggable } from "../../../core/describe-error.ts";
import { currentContext } from "../../../kernel/context/current-context.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { addressBucket } from "../../../kernel/exchange/address-bucket.ts";
import type { WalPosition } from "./wal-position.ts";

/** The form of a position in the store. */
interface StoredPosition {
  readonly bytes: string;
}

/** Beyond the end of every log. */
const UNREACHABLE = 2n ** 64n;

/**
 * The position of each caller's last write, in the durable store of the application, where other processes find it too. An entry
 * expires when every replica in use has replayed it.
 */
export class WritePositions {
  readonly #ttlMs: number;
  readonly #written = new WeakSet<BaseContext>();
  #cluster: string | null = null;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** Notes that the request is about to write. Its later reads come from the primary. */
  begin(ctx: BaseContext): void {
    this.#written.add(ctx);
  }

  hasWritten(ctx: BaseContext): boolean {
    return this.#written.has(ctx);
  }

  /** @param position the place after the write; `null` if the server did not respond */
  async record(position: WalPosition | null): Promise<void> {
    const ctx = currentContext();
    if (ctx === null) return;
    this.#cluster = position?.cluster ?? this.#cluster;
    const bytes = position?.bytes ?? UNREACHABLE;
    try {
      if (this.#cluster === null) throw new Error("the position of the write is unknown");
      await changeRecord<StoredPosition>(
        ctx.services.stores.durable,
        keyOf(this.#cluster, ctx),
        (known) => (known !== null && BigInt(known.bytes) >= bytes ? known : { bytes: String(bytes) }),
        () => this.#ttlMs,
      );
    } catch (err) {
      // The write is committed, so its request does not fail.
      ctx.log.error(
        { err: loggable(err) },
        "failed to store the position of a write: its caller may read older data from a replica",
      );
    }
  }

  /** Returns the position that a replica must have replayed for this caller. */
  async of(ctx: BaseContext, cluster: string): Promise<bigint> {
    const { stores, clock } = ctx.services;
    const { signedInAt } = ctx.caller.credential ?? {};
    const keys = [keyOf(cluster, ctx)];
    // Writes before the sign-in, for example to register, are stored under the address.
    if (signedInAt !== undefined && clock.now() - signedInAt < this.#ttlMs) keys.push(addressKey(cluster, ctx));
    const found = await Promise.all(keys.map((key) => stores.durable.get(key)));
    const positions = found.map((text) => BigInt(parseRecord<StoredPosition>(text)?.bytes ?? 0));
    return positions.reduce((last, position) => (position > last ? position : last));
  }
}

/** By the user, or else by the client's address. The response does not depend on it. */
function keyOf(cluster: string, ctx: BaseContext): string {
  const { user } = ctx.caller;
  return user.isAuthenticated ? `write-position:${cluster}:user:${user.identity}` : addressKey(cluster, ctx);
}

function addressKey(cluster: string, { exchange }: BaseContext): string {
  return `write-position:${cluster}:address:${addressBucket(exchange.ip)}`;
}
