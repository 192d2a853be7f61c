import { setTimeout as sleep } from "node:timers/promises";
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, graphql } from "graphql";
import { Metrics } from "portico";
import { field, type ObjectType, OperationLog, object, schema, t } from "portico/graphql";
import { manualClock } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { openSchema } from "../endpoint/open.ts";

interface Book {
  readonly title: string;
  readonly ms: number;
}
const books: readonly Book[] = [
  { title: "Emma", ms: 20 },
  { title: "Persuasion", ms: 90 },
  { title: "Middlemarch", ms: 5 },
];

function shelf() {
  const clock = manualClock();
  const Book: ObjectType<Book> = object("Book", {
    title: t.string,
    pages: field(t.int)(({ parent }) => {
      clock.advance(parent.ms);
      return 300;
    }),
  });
  const query = {
    books: field(t.list(Book))(() => {
      clock.advance(40);
      return books;
    }),
    late: field(t.string)(async () => {
      await sleep(5);
      clock.advance(7);
      return "late";
    }),
    fails: field(t.nullable(t.string))(() => {
      clock.advance(3);
      throw new Error("no");
    }),
  };
  return { built: schema({ query }), clock };
}

describe("trace", () => {
  it("puts the slowest fields of the operation on its line: type and name, longest call, number of calls", async () => {
    const { built, clock } = shelf();
    const { client, graph, log } = await openSchema(built, {}, { clock });
    graph.onOperation(new OperationLog({ slowerThan: 0, trace: true }));
    log.clear();

    await client.post("/graphql", { body: { query: "query Shelf { books { title pages } }" } });

    const line = log.lines.find(({ operation }) => operation === "Shelf");
    expect(line?.["slowest_fields"]).toEqual([
      { field: "Book.pages", calls: 3, slowest_ms: 90 },
      { field: "Query.books", calls: 1, slowest_ms: 40 },
      { field: "Book.title", calls: 3, slowest_ms: 0 },
    ]);
    expect(line?.msg).toBe(
      "Shelf took 155 ms, cost=3 errors=0, slowest: Book.pages 90 ms (slowest of 3 calls), Query.books 40 ms, Book.title 0 ms (slowest of 3 calls)",
    );
  });

  it("times a field until its promise settles, and one that throws", async () => {
    const { built, clock } = shelf();
    const { client, graph, log } = await openSchema(built, {}, { clock });
    graph.onOperation(new OperationLog({ slowerThan: 0, trace: true }));

    const answer = await client.post("/graphql", { body: { query: "query Both { late fails }" } });

    expect(answer.json()).toMatchObject({ data: { late: "late", fails: null }, errors: [{ path: ["fails"] }] });
    expect(log.lines.find(({ operation }) => operation === "Both")?.["slowest_fields"]).toEqual([
      // It was asked for first, and waited while the other ran.
      { field: "Query.late", calls: 1, slowest_ms: 10 },
      { field: "Query.fails", calls: 1, slowest_ms: 3 },
    ]);
  });

  it("belongs to one operation: each of a batch has its own", async () => {
    const { built, clock } = shelf();
    const seen: unknown[] = [];
    const { client, graph } = await openSchema(built, {}, { clock });
    graph.onOperation({ traces: true, onOperation: (_result, { trace }) => void seen.push(trace?.slowest(9)) });

    await client.post("/graphql", { body: [{ query: "{ books { title } }" }, { query: "{ late }" }] });

    expect(seen).toMatchObject([[{ field: "Query.books" }, { field: "Book.title" }], [{ field: "Query.late" }]]);
  });

  it("times a schema of another library, but not its executions elsewhere", async () => {
    const resolve = vi.fn<() => number>(() => 7);
    const foreign = new GraphQLSchema({
      query: new GraphQLObjectType({ name: "Query", fields: { seven: { type: GraphQLInt, resolve } } }),
    });
    const { client, graph, log } = await openSchema(foreign);
    graph.onOperation(new OperationLog({ slowerThan: 0, trace: true }));

    await client.post("/graphql", { body: { query: "query Seven { seven }" } });
    const elsewhere = await graphql({ schema: foreign, source: "{ seven }" });

    expect(log.lines.find(({ operation }) => operation === "Seven")?.["slowest_fields"]).toMatchObject([
      { field: "Query.seven", calls: 1 },
    ]);
    expect(elsewhere.data).toEqual({ seven: 7 });
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  it("costs nothing when it is off: no resolver is wrapped, no field is timed", async () => {
    const { built, clock } = shelf();
    const resolvers = () =>
      Object.values(built.getTypeMap()).flatMap((type) =>
        "getFields" in type
          ? Object.values(type.getFields()).map((entry) => (entry as { resolve?: unknown }).resolve)
          : [],
      );
    const before = resolvers();
    // The limit wraps resolvers while graphql-js is the executor.
    const { client, graph } = await openSchema(built, { limits: { objects: null } }, { clock });
    const traces: unknown[] = [];
    graph.onOperation(new Metrics()).onOperation(new OperationLog({ slowerThan: 0 }));
    graph.onOperation((_result, { trace }) => void traces.push(trace));
    const reads = vi.spyOn(clock, "monotonic");

    await client.post("/graphql", { body: { query: "{ books { pages } }" } });
    const few = reads.mock.calls.length;
    reads.mockClear();
    await client.post("/graphql", { body: { query: "{ books { pages title } late }" } });

    expect(resolvers()).toEqual(before);
    expect(traces).toEqual([null, null]);
    expect(reads.mock.calls.length).toBe(few);
  });
});
