import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { Round } from "./results.ts";
import type { Server } from "./servers.ts";
import { expected, workloads } from "./workloads.ts";

const CONNECTIONS = 16;
/** The number of requests so far. Documents that are never repeated are numbered across all rounds. */
let sent = 0;

/** A server in its own process, and the load on it. */
export class BenchServer {
  readonly row: string;
  readonly workloads: readonly string[];
  readonly #process: ChildProcess;
  readonly #port: number;
  #cookie = "";

  private constructor({ row, workloads }: Server, process: ChildProcess, port: number) {
    this.row = row;
    this.workloads = workloads;
    this.#process = process;
    this.#port = port;
  }

  static async start(server: Server): Promise<BenchServer> {
    const child = fork(new URL(`../${server.script}`, import.meta.url), server.args, {
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`${server.script} ended with exit code ${code} before it listened`);
    });
    const [port] = (await Promise.race([once(child, "message"), ended])) as [number];
    ended.catch(() => {});
    const started = new BenchServer(server, child, port);
    if (server.signsIn === true) await started.#signIn();
    return started;
  }

  async #signIn(): Promise<void> {
    const { headers } = await fetch(`http://127.0.0.1:${this.#port}/sign-in`, { method: "POST" });
    this.#cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  }

  /** Ends the process at once: on SIGTERM, a server would wait for its load balancer. */
  stop(): void {
    this.#process.kill("SIGKILL");
  }

  /** Throws unless the server returns the expected data. */
  async verify(workload: string): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-workload": workload, cookie: this.#cookie },
      body: workloads[workload]?.body(sent++) ?? "",
    });
    const { data } = (await response.json()) as { readonly data: unknown };
    if (!isDeepStrictEqual(data, expected[workload]))
      throw new Error(`${this.row} returns other data for workload ${workload}: ${JSON.stringify(data).slice(0, 200)}`);
  }

  /** The longest time that one request blocks the event loop of the server, in milliseconds; the median of some requests. */
  async longestBlockMs(workload: string): Promise<number> {
    const blocks: number[] = [];
    for (let request = 0; request < 20; request++) {
      await this.#ask("block");
      await this.verify(workload);
      blocks.push(await this.#ask("block"));
    }
    return blocks.toSorted((a, b) => a - b)[blocks.length / 2] ?? Number.NaN;
  }

  /** Sends one round of requests, over several connections at once. */
  async load(workload: string): Promise<Round> {
    const before = await this.#ask("cpu");
    const latencies: number[] = [];
    const last = sent + (workloads[workload]?.requests ?? 0);
    const rest = stayAwake();
    await Promise.all(Array.from({ length: CONNECTIONS }, () => this.#busyConnection(workload, last, latencies)));
    rest();
    return { micros: ((await this.#ask("cpu")) - before) / latencies.length, latencies };
  }

  async #ask(question: "cpu" | "block"): Promise<number> {
    this.#process.send(question);
    const [value] = (await once(this.#process, "message")) as [number];
    return value;
  }

  #busyConnection(workload: string, last: number, latencies: number[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect(this.#port, "127.0.0.1").setNoDelay();
    let began = 0;
    let head = "";
    let left = -1;
    const cookie = this.#cookie === "" ? "" : `Cookie: ${this.#cookie}\r\n`;
    const send = (): void => {
      const body = workloads[workload]?.body(sent++) ?? "";
      began = performance.now();
      socket.write(
        `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Workload: ${workload}\r\n` +
          `${cookie}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    };
    const done = (): void => {
      latencies.push(performance.now() - began);
      head = "";
      left = -1;
      if (sent < last) send();
      else {
        socket.destroy();
        resolve();
      }
    };
    socket.on("connect", send).on("error", reject);
    socket.on("data", (chunk) => {
      if (left < 0) {
        head += chunk.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!head.startsWith("HTTP/1.1 200")) return reject(new Error(`${this.row}, ${workload}: ${head}`));
        const length = /content-length: (\d+)/i.exec(head);
        if (length === null) {
          // Chunked: it ends with an empty chunk.
          if (head.endsWith("0\r\n\r\n")) done();
          return;
        }
        left = Number(length[1]) - (head.length - end - 4);
      } else left -= chunk.length;
      if (left <= 0) done();
    });
    return promise;
  }
}

/**
 * Keeps this process from sleeping until the returned function is called. To wake a client on the same machine costs the server
 * time when it sends a response, the more often the slower it is.
 */
function stayAwake(): () => void {
  let isAwake = true;
  const turn = (): void => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => {
    isAwake = false;
  };
}
