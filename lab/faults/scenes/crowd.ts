import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const MIN_VALUE = 1;
const IN_ONE = 250;
const MOMENT_MS = 50;
/** The beginning of what a connection receives, which has the status. */
const KEPT = 200;

/** Many connections that send bytes of their own choice, each from its own address, like connections of different clients. */
export class Crowd {
  readonly #port: number;
  readonly #members: Member[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** Adds so many connections, which send these bytes at once. */
  async join(count: number, bytes: string): Promise<void> {
    for (let left = count; left > 0; left -= IN_ONE) {
      const joined = Array.from({ length: Math.min(IN_ONE, left) }, () => this.#member());
      await Promise.all(joined.map(({ isOpen }) => isOpen));
      for (const { socket } of joined) socket.write(bytes);
    }
  }

  /** Sends these bytes on each connection that is open. */
  send(bytes: string): void {
    for (const { socket } of this.#members) if (socket.writable) socket.write(bytes);
  }

  /** Reads nothing any more. */
  stopReading(): void {
    for (const { socket } of this.#members) socket.pause();
  }

  /** The statuses of the first responses, 0 without one, and how often each was received. */
  get statuses(): Readonly<Record<string, number>> {
    const counted: Record<string, number> = {};
    for (const { text } of this.#members) {
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? "0";
      counted[status] = (counted[status] ?? 0) + 1;
    }
    return counted;
  }

  get size(): number {
    return this.#members.length;
  }

  /** Waits until each connection has a response, or until the server has closed it. */
  async until(state: "answered" | "closed", patienceMs: number): Promise<void> {
    const end = performance.now() + patienceMs;
    const isDone = ({ text, socket }: Member): boolean => socket.destroyed || (state === "answered" && text.length > 0);
    while (!this.#members.every(isDone)) {
      if (performance.now() > end)
        throw new Error(`${this.#members.filter((one) => !isDone(one)).length} connections were not ${state}`);
      await sleep(MOMENT_MS);
    }
  }

  /** Throws unless every first response had one of these statuses. */
  expect(...allowed: readonly number[]): void {
    const others = Object.keys(this.statuses).filter((status) => !allowed.includes(Number(status)));
    if (others.length > 0)
      throw new Error(`the connections received ${JSON.stringify(this.statuses)} instead of ${allowed.join(" or ")}`);
  }

  /** Every connection ends without notice. */
  leave(): void {
    for (const { socket } of this.#members.splice(0)) socket.resetAndDestroy();
  }

  #member(): Member {
    const member = new Member(this.#port);
    this.#members.push(member);
    return member;
  }
}

class Member {
  static #count = MIN_VALUE;
  readonly socket: Socket;
  readonly isOpen: Promise<void>;
  text = "";

  constructor(port: number) {
    const n = Member.#count++;
    const localAddress = `127.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
    this.socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true }).unref();
    this.socket.setEncoding("latin1");
    this.socket.on("data", (chunk: string) => {
      if (this.text.length < KEPT) this.text += chunk.slice(0, KEPT);
    });
    this.isOpen = new Promise((resolve, reject) => {
      this.socket.once("connect", resolve);
      this.socket.on("error", reject);
    });
    this.isOpen.catch(() => {});
  }
}
