import { setImmediate as nextRound } from "node:timers/promises";
import {
  AnonymousUser,
  type Credential,
  identify,
  memoryStores,
  PorticoApp,
  type PorticoAppOptions,
  type PubSub,
  type Stores,
} from "portico";
import { SimpleUser } from "portico/auth";
import { type LiveClient, liveClient, logCatcher, manualClock, type TestSocket } from "portico/testing";
import { onTestFinished, vi } from "vitest";

/** A bus whose subscriptions a test can interrupt. */
export interface WatchedBus {
  readonly stores: Stores;
  /** The topics that were subscribed to, in order. */
  readonly topics: string[];
  readonly signals: (AbortSignal | undefined)[];
  /** Ends the current subscriptions with an error. */
  readonly interrupt: (reason: Error) => void;
}

export function watchedBus(): WatchedBus {
  const stores = memoryStores();
  const { bus } = stores;
  const topics: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  let interruption = Promise.withResolvers<never>();
  const watched: PubSub = {
    publish: (topic, value) => bus.publish(topic, value),
    settled: () => bus.settled(),
    async *subscribe(topic, options) {
      topics.push(topic.name);
      signals.push(options?.signal);
      const events = bus.subscribe(topic, options)[Symbol.asyncIterator]();
      for (;;) {
        const next = await Promise.race([events.next(), interruption.promise]);
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
  return {
    stores: { ...stores, bus: watched },
    topics,
    signals,
    interrupt(reason) {
      interruption.reject(reason);
      interruption = Promise.withResolvers();
    },
  };
}

/** A client that is open, or the close code and reason. */
interface OpenSocket {
  readonly socket: TestSocket;
  readonly state: () => "open" | readonly [code: number, reason: string];
}

/** A server with sockets whose clients send their name, and which checks their credentials as a test says. */
export interface OpenSockets {
  readonly app: PorticoApp;
  readonly client: LiveClient;
  /** The lines of the log that report a problem. */
  readonly problems: () => ReturnType<typeof logCatcher>["lines"];
  /** The names whose credential was checked, in order. */
  readonly checked: string[];
  /** How a credential is checked, which a test may replace. */
  readonly checks: { isValid: (name: string) => Promise<boolean> };
  /** Lets the time pass, and the server look at its connections. */
  readonly pass: (ms: number) => Promise<void>;
  /** Opens a socket as this user; `null` is a client without a credential, and "" one whose credential names no user. */
  readonly open: (
    name: string | null,
    credential?: Credential,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<OpenSocket>;
}

export async function openSockets(options: PorticoAppOptions = {}): Promise<OpenSockets> {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = manualClock();
  const log = logCatcher();
  const checked: string[] = [];
  const checks = { isValid: async (_name: string): Promise<boolean> => true };
  const app = new PorticoApp({ logger: log, clock, ...options })
    .use(async (ctx, next) => {
      const { "x-name": name, "x-credential": credential, "x-unchecked": unchecked } = ctx.request.headers;
      if (name !== undefined)
        identify(ctx, {
          user: name === "" ? new AnonymousUser() : new SimpleUser(name),
          auth: "apikey",
          ...(credential !== undefined && { credential: JSON.parse(credential) as Credential }),
          ...(unchecked === undefined && {
            recheck: () => {
              checked.push(name);
              return checks.isValid(name);
            },
          }),
        });
      await next();
    })
    .socket("/ws", { pingSeconds: 0 }, async ({ socket }) => {
      socket.send("open");
      for await (const message of socket) socket.send(message);
    });
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return {
    app,
    client,
    problems: () => log.lines.filter(({ level }) => level !== "info"),
    checked,
    checks,
    async pass(ms) {
      clock.advance(ms);
      vi.advanceTimersByTime(250);
      await rounds();
    },
    async open(name, credential, headers = {}) {
      const own: Record<string, string> = {
        ...(name !== null && { "x-name": name }),
        ...(credential !== undefined && { "x-credential": JSON.stringify(credential) }),
      };
      const socket = await client.socket("/ws", { headers: { ...own, ...headers } });
      onTestFinished(() => socket.terminate());
      await socket.next();
      let state: ReturnType<OpenSocket["state"]> = "open";
      void socket.closed.then(({ code, reason }) => {
        state = [code, reason];
      });
      await rounds();
      return { socket, state: () => state };
    },
  };
}

/** Lets everything happen that needs no more time. */
export async function rounds(): Promise<void> {
  for (let count = 0; count < 30; count++) await nextRound();
}
