import type { ServerResponse } from "node:http";

/** How long a client may leave a response unread, in all of which nothing of it could be sent, before it is cut off. */
export const STALLED_MS = 30_000;
/** Bytes of responses that clients have not read yet, in this process. Beyond it some are cut off. */
const MOST_UNREAD = 128 * 1024 ** 2;

/** The responses of one address, the oldest first, with their lengths. */
interface Unread {
  readonly lengths: Map<ServerResponse, number>;
  total: number;
}

/** Responses that clients read more slowly than they are made, by the addresses of the clients. */
class UnreadResponses {
  readonly #byAddress = new Map<string, Unread>();
  #total = 0;

  /**
   * Follows a response that was handed to the connection, and not taken by it. When there is too much in all, the address with
   * the most loses its oldest: a client that reads nothing does not cut off the others.
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

  /** Nothing moved on the connection for a while: its client reads nothing, or the stream has nothing to send. */
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
