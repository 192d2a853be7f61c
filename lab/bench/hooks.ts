import { context, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { GraphQLSchema } from "graphql";
import {
  field,
  Graph,
  type ObjectType,
  type OperationHook,
  OperationLog,
  object,
  schema,
  t,
} from "../../src/graphql/index.ts";
import { Metrics, opentelemetry, PorticoApp, prometheus } from "../../src/index.ts";
import { HttpContext } from "../../src/kernel/context/http-context.ts";
import { testClient } from "../../src/testing/index.ts";
import { keepResults, nodeMajor } from "./graphql/keep-results.ts";

const ROUNDS = 9;
const OPERATIONS = 10_000;
const WARM_UP = 10_000;
const GOAL_MICROSECONDS = 3;
const GOAL_SHARE = 0.1;

/** The CPU that hooks add to an operation, from its request to its answer: without a socket, which would hide it. */
export async function run(): Promise<void> {
  const idle = { startSpan: () => ({ end() {} }) };
  const all = (): readonly OperationHook[] => [
    new Metrics(),
    new OperationLog({ slowerThan: 10 }),
    opentelemetry(idle),
    prometheus(),
  ];
  // Not promised, and told all the same: what a real tracer and the tracing of fields cost.
  const cases: Readonly<Record<string, readonly OperationHook[]>> = {
    "all built-in hooks": all(),
    Metrics: [new Metrics()],
    OperationLog: [new OperationLog({ slowerThan: 10 })],
    "opentelemetry, a tracer that does nothing": [opentelemetry(idle)],
    prometheus: [prometheus()],
    "opentelemetry, the real tracer": [opentelemetry(realTracer())],
    "opentelemetry, the real tracer, active": [opentelemetry(realTracer(), { active: true })],
    "OperationLog with trace": [new OperationLog({ slowerThan: 10, trace: true })],
  };
  console.log(`${ROUNDS} rounds in turn of ${OPERATIONS} operations each; microseconds of CPU per operation, medians`);
  console.log(`${"".padEnd(44)}${"off".padStart(8)}${"on".padStart(8)}${"over".padStart(8)}`);
  let figure: readonly [off: number, over: number] = [Number.NaN, Number.NaN];
  const figures: object[] = [];
  for (const [name, hooks] of Object.entries(cases)) {
    const [off, on, over] = await compare(hooks);
    const cells = [off, on, over].map((value) => value.toFixed(2).padStart(8)).join("");
    console.log(`${name.padEnd(44)}${cells}`);
    if (name === "all built-in hooks") figure = [off, over];
    figures.push({ row: name, workload: "extra", micros: Math.round(over * 100) / 100 });
  }
  keepResults(`hooks-node${nodeMajor}`, { node: process.version, rounds: ROUNDS, figures });
  const [off, over] = figure;
  const goal = Math.max(GOAL_MICROSECONDS, off * GOAL_SHARE);
  console.log(
    `hooks: ${over.toFixed(2)} microseconds more with all built-in hooks (goal ${goal.toFixed(2)}: ${over <= goal ? "reached" : "not reached"})`,
  );
}

async function compare(hooks: readonly OperationHook[]): Promise<readonly [off: number, on: number, over: number]> {
  const [off, on] = [await endpointWith([]), await endpointWith(hooks)];
  for (const served of [off, on]) await measure(served, WARM_UP);
  const rounds: (readonly [number, number])[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Each goes first as often as the other.
    if (round % 2 === 0) {
      const before = await measure(off, OPERATIONS);
      rounds.push([before, await measure(on, OPERATIONS)]);
    } else {
      const after = await measure(on, OPERATIONS);
      rounds.push([await measure(off, OPERATIONS), after]);
    }
  }
  return [
    median(rounds.map(([before]) => before)),
    median(rounds.map(([, after]) => after)),
    median(rounds.map(([before, after]) => after - before)),
  ];
}

/** A handler of an endpoint, and what a request brought to it. */
interface Served {
  readonly serve: (ctx: HttpContext) => unknown;
  readonly seen: { readonly services: HttpContext["services"]; readonly exchange: HttpContext["exchange"] };
}

/** Microseconds of CPU per operation. */
async function measure({ serve, seen }: Served, operations: number): Promise<number> {
  const start = process.cpuUsage();
  for (let n = 0; n < operations; n++) {
    const ctx = new HttpContext(seen.services, seen.exchange, 1024);
    await serve(ctx);
    if (ctx.outgoing.code !== 200) throw new Error(`an operation answered ${ctx.outgoing.code}`);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / operations;
}

/** An endpoint whose handler can be called again and again with a request that really came. */
async function endpointWith(hooks: readonly OperationHook[]): Promise<Served> {
  const seen: HttpContext[] = [];
  const graph = new Graph(shelf(), {
    middleware: [
      (ctx, next) => {
        if (ctx instanceof HttpContext) seen.push(ctx);
        return next();
      },
    ],
  });
  for (const hook of hooks) graph.onOperation(hook);
  const app = new PorticoApp({ logger: false });
  const handlers: ((args: object) => unknown)[] = [];
  const add = app.add.bind(app);
  app.add = (route) => {
    if (route.method === "GET") handlers.push(route.handler);
    return add(route);
  };
  graph.mount(app);
  await testClient(app).get(`/graphql?query=${encodeURIComponent("query Shelf { books { title year } }")}`);
  const [[ctx], [handler]] = [seen, handlers];
  if (ctx === undefined || handler === undefined) throw new Error("no operation came");
  // Its own request is over: the next ones are not to hear of that.
  const { method, target, headers, rawHeaders, params, query, ip, host, protocol } = ctx.exchange;
  const exchange = { method, target, headers, rawHeaders, params, query, ip, host, protocol, onAbort: () => {} };
  return { seen: { services: ctx.services, exchange: exchange as never }, serve: (again) => handler({ ctx: again }) };
}

function shelf(): GraphQLSchema {
  const Book: ObjectType<{ readonly title: string; readonly year: number }> = object("Book", {
    title: t.string,
    year: t.int,
  });
  const books = ["Emma", "Persuasion", "Middlemarch"].map((title, n) => ({ title, year: 1815 + n }));
  return schema({ query: { books: field(t.list(Book))(() => books) } });
}

function realTracer(): Tracer {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  exporter.export = () => {};
  return new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("bench");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (import.meta.main) await run();
