import type { PorticoClientError } from "./portico-client-error.ts";

/**
 * An event of a subscription, or the notice of a gap.
 *
 * @example
 * ```ts
 * import { createClient } from "portico-client";
 *
 * declare function reload(): Promise<void>;
 * declare function show(stock: number): void;
 *
 * const client = createClient({ url: "https://shop.example" });
 * for await (const { data, gap } of client.subscribe<{ stock: number }>("subscription { stock }")) {
 *   if (gap) await reload();
 *   if (data !== null) show(data.stock);
 * }
 * ```
 */
export interface SubscriptionEvent<Data> {
  /** The data of the event; `null` for a gap, and for an event without data. */
  readonly data: Data | null;
  /** The error of fields that could not be resolved for this event. */
  readonly error: PorticoClientError | null;
  /**
   * Whether the connection was lost and is open again, and events may have been missed: load the current state. A subscription
   * that the server can resume receives the events that it missed instead.
   */
  readonly gap: boolean;
}

/** A connection to the server is open, and the events that follow belong to it. */
export const CONNECTED: unique symbol = Symbol();

/** Opens a connection for one subscription and yields its events. Returns at its end, and throws if the connection is lost. */
export type Connect = (token: string | null, signal: AbortSignal) => AsyncGenerator<unknown>;

/** The extensions of a subscription: the position of its last event, from which the next connection continues. */
export interface Resuming {
  position?: string | undefined;
}
