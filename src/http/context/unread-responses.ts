import type { ServerResponse } from "node:http";

/** How long a response may make no progress because its client does not read it, before it is cut off. */
export const STALLED_MS = 30_000;
/** The maximum number of unread response bytes in this process. Above it, some responses are cut off. */
const MOST_UNREAD = 128 * 1024 ** 2;

/** The responses to one address, the oldest first, with their lengths. */
interface Unread {
  readonly lengths: Map<ServerResponse, number>;
  total: number;
}

/** Responses that clients read more slowly than they are produced, by client address. */
class UnreadResponses {
  readonly #byAddress = new Map<string, Unread>();
  #total = 0;

  /**
   * Tracks a response that the connection could not send at once. If the total is too large, the address with the most unread
   * bytes loses its oldest response, so that a client that reads nothing does not affect others.
   */
  add(response: ServerResponse, length: number, address: string): void {
    response.setTimeout(STALLED_MS, () => this.#cutStalled(response));
    if (length === 0) return;
    const unread = this.#byAddress.get(address) ?? { lengths: new Map(), total: 0 };
    this.#byAddress.set(address, unread);
    unread.lengths.set(response, length);
    unread.total += length;
    this.#total += length;
    response.once("close", () => this.#remove(response, address));
    while (this.#total > MOST_UNREAD) this.#cutOldest();
  }

  #cutOldest(): void {
    const [address, { lengths }] = [...this.#byAddress].reduce((most, next) =>
      next[1].total > most[1].total ? next : most,
    );
    const [oldest] = lengths.keys();
    if (oldest === undefined) throw new Error("an address without unread responses is kept");
    this.#remove(oldest, address);
    (oldest.socket ?? oldest.req.socket).destroy();
  }

  /** Nothing was sent on the connection for a while: its client reads nothing, or the stream has nothing to send. */
  #cutStalled(response: ServerResponse): void {
    if ((response.socket?.writableLength ?? 0) > 0) response.socket?.destroy();
    else response.setTimeout(STALLED_MS);
  }

  #remove(response: ServerResponse, address: string): void {
    const unread = this.#byAddress.get(address);
    const length = unread?.lengths.get(response);
    if (unread === undefined || length === undefined) return;
    unread.lengths.delete(response);
    unread.total -= length;
    this.#total -= length;
    if (unread.lengths.size === 0) this.#byAddress.delete(address);
  }
}

export const unreadResponses: UnreadResponses = new UnreadResponses();
