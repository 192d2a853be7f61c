import { setImmediate as turn } from "node:timers/promises";
import { buildSchema } from "graphql";
import { Depend } from "portico";
import { field, loader, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { data } from "../ask.ts";
import { bodyOf, openSchema } from "../endpoint/open.ts";
import { controlWorkTime, workTime } from "./work-time.ts";

controlWorkTime();

interface Node {
  readonly id: number;
}
const numbered = (count: number): readonly Node[] => Array.from({ length: count }, (_, id) => ({ id }));
const LIMITED = {
  data: null,
  errors: [{ message: "The response contains more than 10 objects", extensions: { code: "OBJECT_LIMIT_EXCEEDED" } }],
};

describe.each(["portico", "graphql-js"] as const)("limits.objects with the executor %s", (executor) => {
  it.each([
    ["a list", "{ list(n: 11) { id } }"],
    ["an iterable", "{ iterated(n: 11) { id } }"],
    ["a promise", "{ later(n: 11) { id } }"],
    ["promised items", "{ promised(n: 11) { id } }"],
    ["a list of lists", "{ nested(n: 4) { id } }"],
    ["objects below objects", "{ list(n: 4) { children { id } } }"],
    ["objects of several fields", "{ a: list(n: 6) { id } b: later(n: 6) { id } }"],
    ["a property", "{ list(n: 1) { many { id } } }"],
  ])("fails an operation with too many objects in %s", async (_title, query) => {
    const { client } = await openSchema(built(), { executor, limits: { objects: 10 } });

    const response = await client.post("/graphql", { body: { query } });

    expect(response.status).toBe(200);
    expect(bodyOf(response)).toMatchObject(LIMITED);
    expect(bodyOf(response).errors).toHaveLength(1);
  });

  it("allows as many objects as the limit, and any number of scalars", async () => {
    const { client } = await openSchema(built(), { executor, limits: { objects: 10 } });

    const response = await client.post("/graphql", { body: { query: "{ list(n: 10) { id } numbers }" } });

    expect(bodyOf(response).errors).toBeUndefined();
    expect(bodyOf(response).data?.["list"]).toHaveLength(10);
  });

  it("has no limit with null", async () => {
    const { client } = await openSchema(built(), { executor, limits: { objects: null } });

    const response = await client.post("/graphql", { body: { query: "{ list(n: 100001) { id } }" } });

    expect(bodyOf(response).data?.["list"]).toHaveLength(100_001);
  });

  it("rolls back what the operation has done", async () => {
    const outcomes: string[] = [];
    async function* work({ ctx }: { readonly ctx: { readonly outcome: string } }): AsyncGenerator<string> {
      try {
        yield "work";
      } finally {
        outcomes.push(ctx.outcome);
      }
    }
    const Item: ObjectType<Node> = object("Item", { id: t.int });
    const change = mutation(t.list(Item), { params: { work: Depend(work) } })(({ work }) =>
      work === "" ? [] : numbered(11),
    );
    const own = schema({ query: { ok: field(t.int)(() => 1) }, mutation: { change } });
    const { client } = await openSchema(own, { executor, limits: { objects: 10 } });

    const response = await client.post("/graphql", { body: { query: "mutation { change { id } }" } });

    expect(bodyOf(response)).toMatchObject(LIMITED);
    expect(outcomes).toEqual(["failure"]);
  });

  it("applies to a schema that Portico did not build", async () => {
    const foreign = buildSchema("type Query { items: [Item!] } type Item { id: Int! }");
    Object.assign(foreign.getQueryType()?.getFields()["items"] ?? {}, { resolve: () => numbered(11) });
    const { client } = await openSchema(foreign, { executor, limits: { objects: 10 } });

    expect(bodyOf(await client.post("/graphql", { body: { query: "{ items { id } }" } }))).toMatchObject(LIMITED);
  });
});

describe("a long list", () => {
  it("gives other work a turn while its objects are completed", async () => {
    workTime(2);
    let turns = 0;
    const stop = new AbortController();
    const counting = (async () => {
      for (; !stop.signal.aborted; turns++) await turn();
    })();

    const { list } = await data(built(), "{ list(n: 50000) { id } }");
    stop.abort();
    await counting;

    expect(list).toHaveLength(50_000);
    expect(turns).toBeGreaterThan(20);
  });

  it("keeps the calls of a loader together: ten thousand items make one batch", async () => {
    workTime(2);
    const batches: number[] = [];
    const names = loader((ids: readonly number[]) => {
      batches.push(ids.length);
      return ids.map((id) => `name ${id}`);
    });
    const Item: ObjectType<Node> = object("Item", {
      id: t.int,
      name: field(t.string)(({ ctx, parent }) => names.load(ctx, parent.id)),
    });
    const { client } = await openSchema(schema({ query: { items: field(t.list(Item))(() => numbered(10_000)) } }));

    const response = await client.post("/graphql", { body: { query: "{ items { id name } }" } });

    expect(bodyOf(response).data?.["items"]).toHaveLength(10_000);
    expect(batches).toEqual([10_000]);
  });
});

function built(): ReturnType<typeof schema> {
  const Child: ObjectType<Node> = object("Child", { id: t.int });
  const Item: ObjectType<Node> = object("Item", {
    id: t.int,
    children: field(t.list(Child))(() => numbered(3)),
    many: field(t.list(Child))(() => numbered(10)),
  });
  const params = { n: t.int };
  return schema({
    query: {
      list: field(t.list(Item), { params })(({ n }) => numbered(n)),
      iterated: field(t.list(Item), { params })(({ n }) => new Set(numbered(n)) as never),
      later: field(t.list(Item), { params })(async ({ n }) => numbered(n)),
      promised: field(t.list(Item), { params })(({ n }) => numbered(n).map(async (one) => one) as never),
      nested: field(t.list(t.list(Item)), { params })(({ n }) => [numbered(n), numbered(n), numbered(n)]),
      numbers: field(t.list(t.int))(() => numbered(1000).map(({ id }) => id)),
    },
  });
}
