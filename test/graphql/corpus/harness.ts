import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { GraphQLSchema } from "graphql";
import { Metrics, PorticoApp, type PorticoAppOptions } from "portico";
import {
  Graph,
  type GraphOptions,
  type OperationContext,
  type OperationHook,
  type OperationResult,
  type UploadsOptions,
} from "portico/graphql";
import { type LogCatcher, logCatcher } from "portico/testing";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { fixtureSchema, type Leases, type Ran } from "../endpoint/fixture.ts";
import {
  type AnsweredError,
  type AnsweredOperation,
  checkAnswer,
  checkFiles,
  checkFollowUp,
  checkHead,
  checkHooks,
  checkLeases,
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
  /** How `{__typename}` is requested if the text must not be sent. */
  readonly followUp?: object;
  /** A hook of operations beside those that count. */
  readonly hook?: OperationHook;
  /** Further setup of the application. */
  readonly prepare?: (app: PorticoApp) => unknown;
}

export interface Expectation {
  /** How many operations are found in the request, where its answer does not tell. */
  readonly operations?: number;
}

/** A response of the endpoint that satisfies the invariants. */
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

/** `PORTICO_CORPUS=long` sends all inputs of a row instead of a tenth. */
export const isLongRun: boolean = process.env["PORTICO_CORPUS"] === "long";

/** One section of the corpus: the endpoints it is replayed on, and what is measured over all of its inputs. */
export class Section {
  readonly #endpoints = new Set<Endpoint>();
  readonly #measured: Measured = { followUps: [], inputs: [], begun: 0 };
  #baseline = 0;
  readonly #unhandled: unknown[] = [];
  readonly #onUnhandled = (reason: unknown): void => void this.#unhandled.push(reason);

  constructor() {
    process.on("unhandledRejection", this.#onUnhandled);
  }

  /** Serves an endpoint until the section ends. */
  async serve(options: ServeOptions = {}): Promise<Endpoint> {
    const endpoint = await new Endpoint(options, this.#measured).listen();
    this.#endpoints.add(endpoint);
    if (this.#baseline === 0) this.#baseline = usedBytes();
    return endpoint;
  }

  /** 6 and 7: what went wrong over the whole section. The endpoints are still there, with what they keep. */
  async faults(): Promise<readonly string[]> {
    const { followUps, inputs } = this.#measured;
    const grown = (): number => (usedBytes() - this.#baseline) / 1e6;
    // Closed handles are released a little later.
    for (let i = 0; i < 20 && grown() >= 20; i++) await sleep(100);
    const grownMegabytes = grown();
    return [
      ...(median(followUps) < 100 ? [] : [`the next request took ${median(followUps)} ms of CPU time`]),
      ...(median(inputs) < 250 ? [] : [`an input took ${median(inputs)} ms of CPU time`]),
      ...(grownMegabytes < 20 ? [] : [`memory has grown by ${grownMegabytes} MB`]),
      ...this.#unhandled.map((reason) => `unhandled: ${String(reason)}`),
    ];
  }

  /** Closes one before the others, and forgets what it kept. */
  async drop(endpoint: Endpoint): Promise<void> {
    this.#endpoints.delete(endpoint);
    await endpoint.close();
  }

  async close(): Promise<void> {
    process.off("unhandledRejection", this.#onUnhandled);
    for (const endpoint of this.#endpoints) await endpoint.close();
  }
}

interface Measured {
  /** The CPU time of `{__typename}` after each input, in milliseconds. */
  readonly followUps: number[];
  /** The CPU time of each input, in milliseconds. The event loop was blocked for as long at most. */
  readonly inputs: number[];
  /** The CPU time of the thread when the input began. */
  begun: number;
}

/** A graph over a real socket, that checks after every input what holds after every input. */
export class Endpoint {
  readonly log: LogCatcher = logCatcher();
  /** The fields that ran since the last input was sent. */
  readonly ran: Ran = {};
  readonly metrics: Metrics = new Metrics();
  /** The calls of the operation hook since the last input was sent. */
  readonly hooked: { readonly result: OperationResult; readonly context: OperationContext }[] = [];
  readonly #leases: Leases = { opened: 0, closed: 0 };
  readonly #directory: string = mkdtempSync(join(tmpdir(), "corpus-"));
  readonly #app: PorticoApp;
  readonly #introspection: boolean;
  readonly #followUp: string;
  readonly #measured: Measured;
  #port = 0;
  #inputs = 0;

  constructor(options: ServeOptions, measured: Measured) {
    const { schema = fixtureSchema(this.ran, this.#leases), graph = {}, hook = () => {}, prepare } = options;
    // A busy machine must not answer 503.
    const load = { report: true };
    this.#app = new PorticoApp({ logger: this.log, shutdown: { signals: [] }, load, ...options.app });
    prepare?.(this.#app);
    new Graph(schema, { ...graph, uploads: { ...(graph.uploads as UploadsOptions), directory: this.#directory } })
      .onOperation(hook)
      .onOperation(this.metrics)
      .onOperation((result, context) => this.hooked.push({ result, context }))
      .mount(this.#app);
    this.#introspection = graph.introspection ?? options.introspection ?? true;
    this.#followUp = JSON.stringify(options.followUp ?? { query: "{__typename}" });
    this.#measured = measured;
  }

  async listen(): Promise<this> {
    this.#port = (await this.#app.listen({ port: 0 })).port;
    return this;
  }

  get port(): number {
    return this.#port;
  }

  /** Sends one input, and checks all invariants that its answer shows. */
  async ask(request: WireRequest, { operations: found }: Expectation = {}): Promise<Answer> {
    const requestId = `input-${++this.#inputs}`;
    this.begin();

    const headers = [["x-request-id", requestId] as const, ...(request.headers ?? [])];
    const answer = await exchange(this.port, { ...request, headers });

    const surroundings = { log: this.log.text, requestId, introspection: this.#introspection };
    const operations = request.method === "HEAD" ? checkHead(answer) : checkAnswer(answer, surroundings);
    if (request.method !== "HEAD")
      checkHooks(this.hooked, operations, found ?? countOperations(answer.status, operations));
    await this.end();
    const errors = operations.flatMap((operation) => operation.errors ?? []);
    const [first] = errors;
    return {
      ...answer,
      operations,
      errors,
      data: operations[0]?.data,
      code: first?.extensions.code,
      message: first?.message,
    };
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
  async get(
    params: Readonly<Record<string, string>>,
    headers: WireRequest["headers"] = [],
    expectation: Expectation = {},
  ): Promise<Answer> {
    return this.ask(
      { method: "GET", target: `/graphql?${new URLSearchParams(params).toString()}`, headers },
      expectation,
    );
  }

  /** Sends a large batch: hooks are counted, and what each answer holds is left to the test. */
  async bulk(entries: readonly unknown[]): Promise<readonly AnsweredOperation[]> {
    this.begin();
    const headers = [["content-type", "application/json"]] as const;
    const answer = await exchange(this.port, { headers, body: JSON.stringify(entries) });
    const operations = JSON.parse(answer.text) as readonly AnsweredOperation[];
    checkHooks(this.hooked, operations, entries.length);
    await this.end();
    return operations;
  }

  /** Sends what is not for the graph to answer: another path, a preflight, headers that Node refuses. */
  async knock(request: WireRequest): Promise<WireAnswer> {
    this.begin();
    const answer = await exchange(this.port, request);
    await this.end();
    return answer;
  }

  /** Called before an input that has no response, such as a connection that breaks. */
  begin(): void {
    this.log.clear();
    this.hooked.length = 0;
    for (const field of Object.keys(this.ran)) delete this.ran[field];
    this.#measured.begun = threadCpuMs();
  }

  /** 5, 6 and 7: after any input. */
  async end(): Promise<void> {
    const { inputs, followUps, begun } = this.#measured;
    inputs.push(threadCpuMs() - begun);
    checkPrototypes();
    checkFiles(this.#directory);
    checkLeases(this.#leases);
    const headers = [["content-type", "application/json"]] as const;
    const started = threadCpuMs();
    checkFollowUp(await exchange(this.port, { headers, body: this.#followUp }));
    followUps.push(threadCpuMs() - started);
    this.hooked.pop();
  }

  async close(): Promise<void> {
    await this.#app.close();
    rmSync(this.#directory, { recursive: true });
  }
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
