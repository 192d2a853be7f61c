import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { GraphQLSchema } from "graphql";
import { PorticoApp, type PorticoAppOptions } from "portico";
import {
  Graph,
  type GraphOptions,
  Metrics,
  type OperationContext,
  type OperationHook,
  type OperationResult,
  type UploadsOptions,
} from "portico/graphql";
import { type LogCatcher, logCatcher } from "portico/testing";
import { expect } from "vitest";
import { fixtureSchema, type Leases, type Ran } from "../endpoint/fixture.ts";
import {
  type AnsweredError,
  type AnsweredOperation,
  checkAnswer,
  checkPrototypes,
  countOperations,
} from "./invariants.ts";
import { exchange, type WireAnswer, type WireRequest } from "./wire.ts";

export interface ServeOptions {
  /** @default the fixture of the corpus */
  readonly schema?: GraphQLSchema;
  readonly graph?: GraphOptions;
  readonly app?: PorticoAppOptions;
  /** Whether the schema may be read, where the options of the graph do not say so. @default true */
  readonly introspection?: boolean;
  /** A hook of operations beside those that count. */
  readonly hook?: OperationHook;
  /** What else is set up on the application. */
  readonly prepare?: (app: PorticoApp) => unknown;
}

export interface Expectation {
  /** How many operations are found in the request, where its answer does not tell. */
  readonly operations?: number;
}

/** An answer of the endpoint that has kept the invariants. */
export interface Answer extends WireAnswer {
  /** One for each operation of a batch, else one. */
  readonly operations: readonly AnsweredOperation[];
  readonly data: AnsweredOperation["data"];
  readonly errors: readonly AnsweredError[];
  /** The code of the first error. */
  readonly code: string | undefined;
  /** Of the first error. */
  readonly message: string | undefined;
}

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** One section of the corpus: the endpoints it is replayed on, and what is measured over all of its inputs. */
export class Section {
  readonly #endpoints: Endpoint[] = [];
  readonly #measured: Measured = {
    followUps: [],
    delays: [],
    histogram: monitorEventLoopDelay({ resolution: 5 }),
  };
  #baseline = 0;

  /** Serves an endpoint until the section ends. */
  async serve(options: ServeOptions = {}): Promise<Endpoint> {
    const endpoint = await Endpoint.start(options, this.#measured);
    this.#endpoints.push(endpoint);
    if (this.#baseline === 0) this.#baseline = usedBytes();
    return endpoint;
  }

  /** 6 and 7: what is asked once for the section. The endpoints are still there, with what they keep. */
  check(): void {
    const { followUps, delays } = this.#measured;
    expect(followUps.length).toBeGreaterThan(0);
    expect(median(followUps)).toBeLessThan(100);
    expect(median(delays)).toBeLessThan(250);
    expect((usedBytes() - this.#baseline) / 1e6).toBeLessThan(20);
    expect(unhandled).toEqual([]);
  }

  async close(): Promise<void> {
    for (const endpoint of this.#endpoints) await endpoint.close();
  }
}

interface Measured {
  /** How long `{__typename}` took after each input, in milliseconds. */
  readonly followUps: number[];
  /** The longest that the event loop was blocked during each input, in milliseconds. */
  readonly delays: number[];
  readonly histogram: ReturnType<typeof monitorEventLoopDelay>;
}

/** A graph over a real socket, that checks after every input what holds after every input. */
export class Endpoint {
  readonly port: number;
  readonly log: LogCatcher;
  /** What ran since the last input was sent. */
  readonly ran: Ran;
  readonly metrics: Metrics;
  /** What the hook of operations was told since the last input was sent. */
  readonly hooked: { readonly result: OperationResult; readonly context: OperationContext }[] = [];
  readonly #app: PorticoApp;
  readonly #leases: Leases;
  readonly #directory: string;
  readonly #introspection: boolean;
  readonly #measured: Measured;
  #inputs = 0;

  private constructor(parts: EndpointParts) {
    this.port = parts.port;
    this.log = parts.log;
    this.ran = parts.ran;
    this.metrics = parts.metrics;
    this.hooked = parts.hooked;
    this.#app = parts.app;
    this.#leases = parts.leases;
    this.#directory = parts.directory;
    this.#introspection = parts.introspection;
    this.#measured = parts.measured;
  }

  static async start(served: ServeOptions, measured: Measured): Promise<Endpoint> {
    const { schema, graph = {}, app: options = {}, hook = () => {}, prepare } = served;
    const [log, ran, leases, metrics, hooked] = [logCatcher(), {}, { opened: 0, closed: 0 }, new Metrics(), [] as Endpoint["hooked"]];
    const directory = mkdtempSync(join(tmpdir(), "corpus-"));
    const app = new PorticoApp({ logger: log, shutdown: { signals: [] }, ...options });
    prepare?.(app);
    new Graph(schema ?? fixtureSchema(ran, leases), { ...graph, uploads: { ...(graph.uploads as UploadsOptions), directory } })
      .onOperation(hook)
      .onOperation(metrics)
      .onOperation((result, context) => hooked.push({ result, context }))
      .mount(app);
    const { port } = await app.listen({ port: 0 });
    const introspection = graph.introspection ?? served.introspection ?? true;
    return new Endpoint({ port, log, ran, leases, metrics, hooked, app, directory, introspection, measured });
  }

  /** Sends one input, and checks all invariants that its answer shows. */
  async ask(request: WireRequest, { operations: found }: Expectation = {}): Promise<Answer> {
    const requestId = `input-${++this.#inputs}`;
    this.begin();

    const headers = [["x-request-id", requestId] as const, ...(request.headers ?? [])];
    const answer = await exchange(this.port, { ...request, headers });

    if (request.method === "HEAD") {
      expect(answer.text).toBe("");
      await this.end();
      return { ...answer, operations: [], data: undefined, errors: [], code: undefined, message: undefined };
    }
    const operations = checkAnswer(answer, { log: this.log.text, requestId, introspection: this.#introspection });
    this.#checkHooks(operations, found ?? countOperations(answer.status, operations));
    await this.end();
    const errors = operations.flatMap((operation) => operation.errors ?? []);
    const [first] = errors;
    return { ...answer, operations, errors, data: operations[0]?.data, code: first?.extensions.code, message: first?.message };
  }

  /** Sends one operation as JSON. */
  async post(body: unknown, headers: WireRequest["headers"] = [], expectation: Expectation = {}): Promise<Answer> {
    const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    return this.ask({ headers: [["content-type", "application/json"], ...headers], body: text }, expectation);
  }

  /** Sends one document as JSON. */
  async query(query: string, variables?: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.post({ query, ...(variables === undefined ? {} : { variables }) });
  }

  /** Sends the parameters of a query in the URL. */
  async get(params: Readonly<Record<string, string>>, headers: WireRequest["headers"] = [], expectation: Expectation = {}): Promise<Answer> {
    return this.ask({ method: "GET", target: `/graphql?${new URLSearchParams(params).toString()}`, headers }, expectation);
  }

  /** Sends a large batch: hooks are counted, and what each answer holds is left to the test. */
  async bulk(entries: readonly unknown[]): Promise<readonly AnsweredOperation[]> {
    this.begin();
    const headers = [["content-type", "application/json"]] as const;
    const answer = await exchange(this.port, { headers, body: JSON.stringify(entries) });
    expect([answer.status, this.hooked.length]).toEqual([200, entries.length]);
    await this.end();
    return JSON.parse(answer.text) as readonly AnsweredOperation[];
  }

  /** Sends what is not for the graph to answer: another path, a preflight, headers that Node refuses. */
  async knock(request: WireRequest): Promise<WireAnswer> {
    this.begin();
    const answer = await exchange(this.port, request);
    await this.end();
    return answer;
  }

  /** Before an input that is not a request with an answer, such as a connection that breaks. */
  begin(): void {
    this.log.clear();
    this.hooked.length = 0;
    for (const field of Object.keys(this.ran)) delete this.ran[field];
    this.#measured.histogram.reset();
    this.#measured.histogram.enable();
  }

  /** 5, 6 and 7: after any input. */
  async end(): Promise<void> {
    const { histogram, delays, followUps } = this.#measured;
    delays.push(histogram.max / 1e6);
    histogram.disable();
    checkPrototypes();
    this.checkClosed();
    const started = performance.now();
    const answer = await exchange(this.port, { headers: [["content-type", "application/json"]], body: '{"query":"{__typename}"}' });
    followUps.push(performance.now() - started);
    expect([answer.status, JSON.parse(answer.text).data]).toEqual([200, { __typename: "Query" }]);
    this.hooked.pop();
  }

  /** 7: no file, no handle, no dependency is left. */
  checkClosed(): void {
    expect(readdirSync(this.#directory)).toEqual([]);
    expect(openFiles().filter((path) => path.startsWith(this.#directory))).toEqual([]);
    expect(this.#leases.closed).toBe(this.#leases.opened);
  }

  /** 8: the hook was told of each operation once, and that it failed if it failed. */
  #checkHooks(operations: readonly AnsweredOperation[], found: number): void {
    expect(this.hooked, this.log.text).toHaveLength(found);
    for (const [index, { result }] of this.hooked.entries()) {
      expect(result.ok).toBe(operations[index]?.errors === undefined);
    }
  }

  async close(): Promise<void> {
    await this.#app.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

interface EndpointParts {
  readonly port: number;
  readonly log: LogCatcher;
  readonly ran: Ran;
  readonly leases: Leases;
  readonly metrics: Metrics;
  readonly hooked: Endpoint["hooked"];
  readonly app: PorticoApp;
  readonly directory: string;
  readonly introspection: boolean;
  readonly measured: Measured;
}

/** What this process has open; nothing where the system does not say. */
function openFiles(): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The directory itself was open while it was read.
      return [];
    }
  });
}

/** Heap and external memory after a collection. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
