import { field, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Endpoint, isLongRun, Section } from "./harness.ts";
import type { AnsweredOperation } from "./invariants.ts";

const section = new Section();
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
});
afterAll(() => section.close());

const WRONG = [{}, 0, false, []];

describe("B. Request parameters", () => {
  it("[graphql:B1] no query is 400", async () => {
    for (const body of ["{}", '{"variables":{}}', '{"query":null}'])
      expect(await endpoint.post(body, [], { operations: 1 })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("[graphql:B2] a query that is not a string is 400", async () => {
    for (const query of WRONG) expect(await wrong({ query })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("[graphql:B3] an operationName that is not a string is 400", async () => {
    for (const operationName of WRONG)
      expect(await wrong({ query: "{hello}", operationName })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("[graphql:B4] variables that are not an object are 400", async () => {
    for (const variables of ["x", 0, false, []])
      expect(await wrong({ query: "{hello}", variables })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("[graphql:B5] extensions that are not an object are 400", async () => {
    for (const extensions of ["x", 0, false, []])
      expect(await wrong({ query: "{hello}", extensions })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("[graphql:B6] null stands for nothing in each of them", async () => {
    for (const name of ["operationName", "variables", "extensions"])
      expect(await endpoint.post({ query: "{hello}", [name]: null }), name).toMatchObject({
        status: 200,
        data: { hello: "world" },
      });
  });

  it("[graphql:B7] an empty document is 400", async () => {
    for (const query of ["", " \n\t", "# nothing\n#\n"]) {
      const answer = await endpoint.post({ query }, [], { operations: 1 });
      expect(answer.status, JSON.stringify(query)).toBe(400);
    }
  });

  it("[graphql:B8] a fragment alone is 400", async () => {
    expect(await endpoint.query("fragment F on A{id}")).toMatchObject({
      status: 400,
      code: "OPERATION_RESOLUTION_FAILURE",
    });
  });

  it("[graphql:B9] two operations without an operationName are 400", async () => {
    const answer = await endpoint.query("query A{hello} query B{boom}");

    expect(answer).toMatchObject({ status: 400, code: "OPERATION_RESOLUTION_FAILURE" });
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:B10] an operationName that is not in the document is 400", async () => {
    expect(await named("query A{hello}", "B")).toMatchObject({ status: 400, code: "OPERATION_RESOLUTION_FAILURE" });
    expect(await named("{hello}", "")).toMatchObject({ status: 400, code: "OPERATION_RESOLUTION_FAILURE" });
  });

  it("[graphql:B11] names of Object.prototype are not found in a document, and are counted like any other", async () => {
    endpoint.metrics.reset();

    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(await named("query A{hello}", name)).toMatchObject({ status: 400, code: "OPERATION_RESOLUTION_FAILURE" });
      expect(await named(`query ${name}{hello}`, name)).toMatchObject({ status: 200, data: { hello: "world" } });
    }

    const rows = Object.entries(endpoint.metrics.snapshot());
    expect(rows.map(([name, { count, errors }]) => [name, count, errors])).toEqual([
      // With the three that asked for `{__typename}` after each refusal and after each result.
      ["<rejected>", 3, 3],
      ["<anonymous>", 6, 0],
      ["__proto__", 1, 0],
      ["constructor", 1, 0],
      ["toString", 1, 0],
    ]);
  });

  it("[graphql:B12] names as long and as many as can be are 400, and the metrics stay bounded", async () => {
    const wide = await section.serve({ graph: { transport: { batch: 100 } }, app: { logger: false } });
    const send = (first: number, query: (name: string) => string): Promise<readonly AnsweredOperation[]> =>
      wide.bulk(
        Array.from({ length: 100 }, (_, i) => ({ query: query(`N${first + i}`), operationName: `N${first + i}` })),
      );

    expect(await named("query A{hello}", "x".repeat(900_000))).toMatchObject({ status: 400 });
    for (let first = 0; first < (isLongRun ? 100_000 : 10_000); first += 100) {
      const answers = await send(first, () => "query A{hello}");
      expect(answers.every(({ errors }) => errors?.[0]?.extensions.code === "OPERATION_RESOLUTION_FAILURE")).toBe(true);
    }
    expect(Object.keys(wide.metrics.snapshot())).toEqual(["<rejected>", "<anonymous>"]);
    for (let first = 0; first < 1_500; first += 100) await send(first, (name) => `query ${name}{hello}`);

    const rows = wide.metrics.snapshot();
    expect(Object.keys(rows)).toHaveLength(1_003);
    expect(rows["<other>"]?.count).toBe(500);
  });

  it("[graphql:B13] control characters in an operationName cannot forge a line of the log", async () => {
    for (const name of ["\u001b[31mred", 'A\r\n{"level":50,"msg":"forged"}', "A\u2028B"]) {
      expect(await named("query A{hello}", name)).toMatchObject({ status: 400 });

      expect(endpoint.log.lines.filter(({ msg }) => msg === "forged")).toEqual([]);
      // Written as escapes: one line of JSON per event.
      // oxlint-disable-next-line no-control-regex
      expect(endpoint.log.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    }
  });

  it("[graphql:B14] definitions of types are 400", async () => {
    for (const query of ["type X{a:Int}", "{hello} type X{a:Int}", "extend type Query{a:Int}", "schema{query:X}"])
      expect((await endpoint.query(query)).status, query).toBe(400);
  });

  it("[graphql:B15] characters that no document has are 400", async () => {
    for (const escaped of ["\\u0000", "\\ud800", "\\u202e", "\\u200b"]) {
      const answer = await endpoint.post(`{"query":"{${escaped}hello}"}`);
      expect([answer.status, answer.code], escaped).toEqual([400, "GRAPHQL_PARSE_FAILED"]);
    }
  });

  it("[graphql:B16] variables that do not fit are 400", async () => {
    const query = "query($x:Int!){echo(i:$x)}";

    for (const variables of [{}, { x: null }, { x: 99_999_999_999 }, { x: "1" }]) {
      expect(await endpoint.query(query, variables)).toMatchObject({ status: 400, code: "BAD_USER_INPUT" });
      expect(endpoint.ran).toEqual({});
    }
  });

  it("[graphql:B17] ten thousand bad items are 400 with at most 50 errors", async () => {
    const answer = await endpoint.query("mutation($fs:[Upload]){up(fs:$fs)}", { fs: Array(10_000).fill("x") });

    expect([answer.status, answer.code]).toEqual([400, "BAD_USER_INPUT"]);
    expect(answer.errors.length).toBeLessThanOrEqual(50);
  });

  it("[graphql:B18] __proto__ in a JSON variable is a key of the value, and nothing is inherited from it", async () => {
    const x = t.nullable(t.json);
    const merging = field(t.string, { params: { x } })(({ x }) => {
      const merged: Record<string, unknown> = { role: "guest", ...(x as object) };
      return `${Object.keys(x as object).join()} ${String((x as typeof merged)["polluted"])} ${String(merged["polluted"])}`;
    });
    const own = await section.serve({ schema: schema({ query: { merging } }) });

    const answer = await own.post(
      '{"query":"query($x:JSON){merging(x:$x)}","variables":{"x":{"__proto__":{"polluted":1}}}}',
    );

    expect([answer.status, answer.data]).toEqual([200, { merging: "__proto__ undefined undefined" }]);
  });

  it("[graphql:B19] variables named like members of Object.prototype arrive", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const query = `query($${name}:Int){echo(i:$${name})}`;
      const answer = await endpoint.post(`{"query":"${query}","variables":{"${name}":7}}`);
      const without = await endpoint.query(query);

      expect([answer.status, answer.data], name).toEqual([200, { echo: '{"x":null,"s":null,"i":7,"o":null}' }]);
      expect([without.status, without.data], name).toEqual([200, { echo: '{"x":null,"s":null,"i":null,"o":null}' }]);
    }
  });

  it("[graphql:B20] a literal with __proto__ is an unknown field of an input, and a key of a JSON value", async () => {
    expect(await endpoint.query("{echo(o:{__proto__:{}})}")).toMatchObject({
      status: 400,
      code: "GRAPHQL_VALIDATION_FAILED",
    });
    expect(await endpoint.query("{echo(x:{__proto__:{polluted:1}})}")).toMatchObject({ status: 200, errors: [] });
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

/** A request that is refused before an operation is looked for. */
const wrong = (body: unknown): ReturnType<Endpoint["post"]> => endpoint.post(body, [], { operations: 0 });

const named = (query: string, operationName: string): ReturnType<Endpoint["post"]> =>
  endpoint.post({ query, operationName });
