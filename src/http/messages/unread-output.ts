import { LargestFirst } from "../../core/work/largest-first.ts";

/** How long output may make no progress because its client does not read it, before the connection is cut off. */
export const STALLED_MS = 30_000;
/** The maximum memory for unread output in this process. Above it, some connections are cut off. */
const MAX_UNREAD = 128 * 1024 ** 2;
/** The minimum for each output, since few bytes occupy more. It also bounds the number of addresses to compare. */
const MIN = 4_096;

/** A response or socket whose client reads more slowly than it is written. */
export interface UnreadOutput {
  /** Ends its connection. */
  cutOff(): void;
}

/** The output for one address, the oldest first, with the memory of each. */
interface Account {
  readonly outputs: Map<UnreadOutput, number>;
  total: number;
}

/** The unread output of all connections, by client address. */
class UnreadOutputs {
  readonly #byAddress = new Map<string, Account>();
  readonly #order = new LargestFirst<string>();
  #total = 0;

  /**
   * Sets the unread bytes of an output, until it is removed. If the total is too large, the address with the most unread bytes
   * loses its oldest output, so that a client that reads nothing does not affect others.
   */
  set(output: UnreadOutput, bytes: number, address: string): void {
    const account = this.#byAddress.get(address) ?? { outputs: new Map(), total: 0 };
    this.#byAddress.set(address, account);
    const counted = Math.max(MIN, bytes);
    const more = counted - (account.outputs.get(output) ?? 0);
    account.outputs.set(output, counted);
    account.total += more;
    this.#order.set(address, account.total);
    this.#total += more;
    while (this.#total > MAX_UNREAD) this.#cutOldest();
  }

  remove(output: UnreadOutput, address: string): void {
    const account = this.#byAddress.get(address);
    const bytes = account?.outputs.get(output);
    if (account === undefined || bytes === undefined) return;
    account.outputs.delete(output);
    account.total -= bytes;
    this.#total -= bytes;
    if (account.outputs.size > 0) this.#order.set(address, account.total);
    else {
      this.#byAddress.delete(address);
      this.#order.delete(address);
    }
  }

  #cutOldest(): void {
    const address = this.#order.largest() ?? "";
    const [oldest] = this.#byAddress.get(address)?.outputs.keys() ?? [];
    if (oldest === undefined) throw new Error("an address without unread output is kept");
    this.remove(oldest, address);
    oldest.cutOff();
  }
}

export const unreadOutputs: UnreadOutputs = new UnreadOutputs();
