import { fork } from "node:child_process";
import { on, once } from "node:events";

/** An application with accounts in another process. */
export interface AccountProcess {
  readonly events: readonly string[];
  readonly isDead: Promise<string | null>;
  /** Rejects when the process dies meanwhile. */
  ask(
    path: string,
    options?: Asked,
  ): Promise<{ readonly status: number; readonly body: unknown; readonly cookie: string }>;
  readonly port: number;
  /** From here on the event loop is watched. */
  measure(): void;
  /** How long it was held up, and how much memory is taken. */
  report(): Promise<Load>;
  close(): Promise<void>;
}

export interface Load {
  readonly p99Ms: number;
  readonly rss: number;
}

interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param dies where it kills itself when a refresh token turns */
export async function accountProcess(
  urls: { readonly database: string; readonly redis: string; readonly prefix: string },
  dies: "never" | "before" | "after" = "never",
): Promise<AccountProcess> {
  const child = fork(
    new URL("../fixtures/account-process.ts", import.meta.url),
    [urls.database, urls.redis, urls.prefix, dies],
    { stdio: ["ignore", "inherit", "inherit", "ipc"], execArgv: [] },
  );
  const events: string[] = [];
  const { promise: port, resolve, reject } = Promise.withResolvers<number>();
  child.on("message", (message: { readonly port?: number; readonly event?: string }) => {
    if (message.port !== undefined) resolve(message.port);
    else if (message.event !== undefined) events.push(message.event);
  });
  const isDead = once(child, "exit").then(([, signal]) => signal as string | null);
  child.once("exit", (code) => reject(new Error(`the process has ended with ${code}`)));
  const base = `http://127.0.0.1:${await port}`;
  return {
    port: await port,
    measure: () => void child.send("measure"),
    async report() {
      child.send("report");
      for await (const [message] of on(child, "message")) if (message.load !== undefined) return message.load as Load;
      throw new Error("no report");
    },
    events,
    isDead,
    async ask(path, { body, from = "203.0.113.1", headers = {}, method = body === undefined ? "GET" : "POST" } = {}) {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: {
          ...headers,
          "x-forwarded-for": from,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]);
      return { status: answer.status, body: text === "" ? null : JSON.parse(text), cookie: cookie.join("; ") };
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.send("close");
      await isDead;
    },
  };
}
