import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, memoryTokens } from "../../packages/portico-client/src/index.ts";

/** What the clients of a run saw. */
export interface LoadResults {
  readonly requests: number;
  /** Requests on a kept connection that the server closed at the same moment, sent again as RFC 9112 section 9.3.1 allows. */
  readonly repeated: number;
  readonly failures: readonly string[];
  /** Reconnections of subscriptions. */
  readonly reconnections: number;
  /** The longest time until a request of 3 seconds, and until any other, was served. */
  readonly slowestMs: { readonly long: number; readonly short: number };
}

const PASSWORD = "correct horse battery";
const SUBSCRIPTIONS = 40;
const LIST = "/books/newest?page_size=5";
/** A subscription may just have begun to wait before it reconnects. */
const SETTLE_MS = 30_000;

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly body?: () => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The pause between two requests of a client, at most. */
  readonly pauseMs: number;
  readonly clients: number;
  readonly isKept: boolean;
}

/** Clients that send requests and hold subscriptions until they are stopped. Every response but 200 is a failure. */
export class Load {
  readonly #url: string;
  readonly #stop = new AbortController();
  readonly #failures: string[] = [];
  /** The newest event of each subscription. */
  readonly #newest: number[] = Array.from({ length: SUBSCRIPTIONS }, () => 0);
  readonly #slowestMs = { long: 0, short: 0 };
  #requests = 0;
  #repeated = 0;
  #reconnections = 0;
  #stock = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  async start(): Promise<void> {
    const tokens = memoryTokens();
    await createClient({ url: this.#url, tokens }).signIn({ identifier: "staff", password: PASSWORD });
    const { accessToken = "" } = (await tokens.get()) ?? {};
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const restock = (): object => ({
      query: 'mutation ($change: BookChange!) { changeBook(id: "book-1", change: $change) { id } }',
      variables: { change: { stock: ++this.#stock } },
    });
    const kinds: readonly Kind[] = [
      { name: "list", path: LIST, pauseMs: 100, clients: 4, isKept: true },
      { name: "new connection", path: LIST, pauseMs: 200, clients: 2, isKept: false },
      { name: "query", path: "/graphql", body: whoAmI, headers, pauseMs: 100, clients: 4, isKept: true },
      { name: "write", path: "/graphql", body: restock, headers, pauseMs: 200, clients: 2, isKept: true },
      { name: "long", path: "/slow", pauseMs: 100, clients: 8, isKept: true },
      // Longer than the delay of a shutdown, so connections are idle when the server closes them.
      { name: "seldom", path: LIST, pauseMs: 12_000, clients: 30, isKept: true },
    ];
    this.#running = Promise.all([
      ...kinds.flatMap((kind) => Array.from({ length: kind.clients }, () => this.#repeat(kind))),
      ...this.#newest.keys().map((n) => this.#subscribe(n)),
    ]);
  }

  /** Waits until every subscription has received an event that was published after this call. */
  async settle(): Promise<void> {
    const since = this.#stock;
    const until = performance.now() + SETTLE_MS;
    while (this.#newest.some((stock) => stock <= since)) {
      if (performance.now() > until) {
        const silent = this.#newest.filter((stock) => stock <= since).length;
        this.#failures.push(`${silent} subscriptions received no event within ${SETTLE_MS / 1000} s`);
        return;
      }
      await sleep(100);
    }
  }

  async end(): Promise<LoadResults> {
    this.#stop.abort();
    await this.#running;
    return {
      requests: this.#requests,
      repeated: this.#repeated,
      reconnections: this.#reconnections,
      failures: this.#failures,
      slowestMs: this.#slowestMs,
    };
  }

  async #repeat(kind: Kind): Promise<void> {
    const agent = new Agent({ keepAlive: kind.isKept, maxSockets: 1 });
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const began = performance.now();
      await this.#request(kind, agent).catch((error: unknown) => this.#failures.push(`${kind.name}: ${String(error)}`));
      this.#requests++;
      const time = kind.name === "long" ? "long" : "short";
      this.#slowestMs[time] = Math.max(this.#slowestMs[time], performance.now() - began);
      await sleep(Math.random() * kind.pauseMs, undefined, { signal }).catch(() => {});
    }
    agent.destroy();
  }

  #request(kind: Kind, agent: Agent): Promise<void> {
    const { path, body, headers = {} } = kind;
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { agent, method: body === undefined ? "GET" : "POST", headers });
      sent.on("error", (error) => {
        // Node reports it this way if no byte of a response has arrived.
        const isRace = sent.reusedSocket && "code" in error && error.code === "ECONNRESET";
        if (!isRace) return reject(error);
        this.#repeated++;
        resolve(this.#request(kind, agent));
      });
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200 && !text.startsWith('{"errors"')) resolve();
          else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`));
        });
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body()));
    });
  }

  async #subscribe(n: number): Promise<void> {
    const { signal } = this.#stop;
    const client = createClient({ url: this.#url, transport: n % 2 === 0 ? "sse" : "websocket" });
    const events = client.subscribe<{ readonly stockChanged: number }>(
      'subscription { stockChanged(book: "book-1") }',
      { signal },
    );
    try {
      for await (const { data, error, gap } of events) {
        if (gap) this.#reconnections++;
        if (error !== null) this.#failures.push(`event: ${String(error)}`);
        if (data !== null) this.#newest[n] = data.stockChanged;
      }
      this.#failures.push("a subscription ended");
    } catch (error) {
      if (!signal.aborted) this.#failures.push(`subscription: ${String(error)}`);
    }
  }
}

function whoAmI(): object {
  return { query: "{ me { username } }" };
}
