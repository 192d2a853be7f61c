import { field, mutation, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, openSchema } from "../endpoint/open.ts";

const Row = t.input("Row", { a: t.nullable(t.int), b: t.nullable(t.int), c: t.nullable(t.int) });
const own = (ran: () => void = () => {}) =>
  schema({
    query: { ok: field(t.int)(() => 1) },
    mutation: {
      importRows: mutation(t.int, { auth: true, params: { rows: t.list(Row) } })(() => 1),
      sum: mutation(t.int, { params: { of: t.list(t.int) } })(({ of }) => {
        ran();
        return of.length;
      }),
    },
  });
const SUM = "mutation ($of: [Int!]!) { sum(of: $of) }";
const IMPORT = "mutation ($rows: [Row!]!) { importRows(rows: $rows) }";

describe("limits.values", () => {
  it("counts the items of lists: as many as the limit are allowed, and one more is 400 before a resolver runs", async () => {
    let runs = 0;
    const { client } = await openSchema(
      own(() => runs++),
      { limits: { values: 10 } },
    );
    const send = (length: number) =>
      client.post("/graphql", { body: { query: SUM, variables: { of: Array(length).fill(1) } } });

    expect(bodyOf(await send(10)).data).toEqual({ sum: 10 });
    const refused = await send(11);

    expect(refused.status).toBe(400);
    expect(bodyOf(refused).errors).toMatchObject([
      {
        message: "The variables contain at least 11 values; the limit is 10",
        extensions: { code: "VALUE_LIMIT_EXCEEDED" },
      },
    ]);
    expect(runs).toBe(1);
  });

  it("counts every field of the type of an input object, because those that are left out are visited too", async () => {
    const { client } = await openSchema(own(), { limits: { values: 12 } });
    const send = (rows: readonly object[]) => client.post("/graphql", { body: { query: IMPORT, variables: { rows } } });

    expect((await send([{}, {}, {}])).status).toBe(200);
    expect(bodyOf(await send([{}, {}, {}, {}])).errors?.[0]?.extensions.code).toBe("VALUE_LIMIT_EXCEEDED");
  });

  it("counts all variables of an operation together, and not those that it does not declare", async () => {
    const { client } = await openSchema(own(), { limits: { values: 10 } });
    const query = "mutation ($a: [Int!]!, $b: [Int!]!) { a: sum(of: $a) b: sum(of: $b) }";
    const send = (variables: object) => client.post("/graphql", { body: { query, variables } });

    const ten = Array(10).fill(1);
    expect((await send({ a: [1], b: [1], c: ten })).status).toBe(200);
    expect((await send({ a: ten, b: [1] })).status).toBe(400);
  });

  it("[LIM-14] is checked with the variables: after validation, and before the cost", async () => {
    const { client } = await openSchema(own(), { limits: { values: 10, cost: 0 } });
    const variables = { of: Array(11).fill(1) };
    const codeOf = async (query: string) =>
      bodyOf(await client.post("/graphql", { body: { query, variables } })).errors?.[0]?.extensions.code;

    expect(await codeOf("mutation ($of: [Int!]!) { sum(of: $of) nope }")).toBe("GRAPHQL_VALIDATION_FAILED");
    expect(await codeOf(SUM)).toBe("VALUE_LIMIT_EXCEEDED");
  });

  it("allows any number with null", async () => {
    const { client } = await openSchema(own(), { limits: { values: null } });

    const response = await client.post("/graphql", { body: { query: SUM, variables: { of: Array(60_000).fill(1) } } });

    expect(bodyOf(response).data).toEqual({ sum: 60_000 });
  });
});
