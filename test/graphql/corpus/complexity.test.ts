import { getIntrospectionQuery } from "graphql";
import { ConfigurationError } from "portico";
import { field, Limits, type ObjectType, object, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { type Answer, type Endpoint, Section } from "./harness.ts";

const section = new Section();
let endpoint: Endpoint;
/** With no cap on characters: that of tokens answers. */
let long: Endpoint;
/** With none on tokens either: the limit behind them answers. */
let uncapped: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
  long = await section.serve({ graph: { limits: { characters: null } } });
  uncapped = await section.serve({ graph: { limits: { tokens: null, characters: null } } });
});
afterAll(() => section.close());

const CHARACTERS = "400 CHARACTER_LIMIT_EXCEEDED";
const TOKENS = "400 TOKEN_LIMIT_EXCEEDED";
const DEPTH = "400 DEPTH_LIMIT_EXCEEDED";
const ALIASES = "400 ALIAS_LIMIT_EXCEEDED";
const BREADTH = "400 BREADTH_LIMIT_EXCEEDED";
const FIELDS = "400 FIELD_LIMIT_EXCEEDED";
const DIRECTIVES = "400 DIRECTIVE_LIMIT_EXCEEDED";
const COST = "400 COST_LIMIT_EXCEEDED";
const INVALID = "400 GRAPHQL_VALIDATION_FAILED";

describe("E. Document complexity", () => {
  it("[graphql:E1] one level over the depth limit is refused, at the limit it is not", async () => {
    expect(await said(endpoint, nest(15, "a"))).toBe(`${DEPTH}: The operation's depth is 16; the limit is 15`);
    expect(await endpoint.query(nest(14, "a"))).toMatchObject({ status: 200, errors: [] });
  });

  it("[graphql:E2] a selection 5,000 deep is refused by its tokens", async () => {
    expect(await verdict(endpoint, nest(5_000, "a"))).toBe(TOKENS);
    expect(await verdict(uncapped, nest(5_000, "a"))).toBe(DEPTH);
  });

  it("[graphql:E3] values and types nested 20,000 deep are refused by their length, else by their tokens", async () => {
    const deep = (open: string, inner: string, close: string): string =>
      open.repeat(20_000) + inner + close.repeat(20_000);
    const documents = [
      `{echo(x:${deep("[", "1", "]")})}`,
      `query($x:${deep("[", "Int", "]")}){echo(x:$x)}`,
      `{echo(x:${deep("{s:", "1", "}")})}`,
    ];

    for (const query of documents) {
      expect(await verdict(endpoint, query)).toBe(query.length > 65_536 ? CHARACTERS : TOKENS);
      expect(await verdict(long, query)).toBe(TOKENS);
      expect((await uncapped.query(query)).status).toBe(400);
    }
  });

  it("[graphql:E4] 10,000 aliases are refused by their length, else by their tokens, else as aliases", async () => {
    const query = `{${times(10_000, (i) => `a${i}:hello`)}}`;

    expect([await verdict(endpoint, query), await verdict(long, query)]).toEqual([CHARACTERS, TOKENS]);
    expect(await said(uncapped, query)).toBe(`${ALIASES}: The operation's alias count is 10000; the limit is 30`);
  });

  it("[graphql:E5] 1,000 aliases of a mutation's root field count", async () => {
    const query = `mutation{${times(1_000, (i) => `a${i}:login`)}}`;

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    expect(await verdict(uncapped, query)).toBe(ALIASES);
    expect([endpoint.ran, uncapped.ran]).toEqual([{}, {}]);
  });

  it("[graphql:E6] the same field 10,000 times is refused by its tokens, else by its breadth", async () => {
    const query = `{${"hello ".repeat(10_000)}}`;

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    expect(await said(uncapped, query)).toBe(`${BREADTH}: The operation's breadth is 10000; the limit is 100`);
  });

  it("[graphql:E7] the same object 1,000 times is refused in less than 20 ms", async () => {
    const query = `{${"a{id} ".repeat(1_000)}}`;
    const spentMs: number[] = [];

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    for (let i = 0; i < 5; i++) {
      const before = threadCpuMs();
      expect(await verdict(uncapped, query)).toBe(BREADTH);
      spentMs.push(threadCpuMs() - before);
    }

    expect(Math.min(...spentMs)).toBeLessThan(20);
  });

  it("[graphql:E8] 60 times 60 objects are refused by their tokens, else by their fields", async () => {
    const query = `{${`a{${"a{id} ".repeat(60)}} `.repeat(60)}}`;

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    expect(await said(uncapped, query)).toBe(`${FIELDS}: The operation's field count is 7260; the limit is 1000`);
  });

  it("[graphql:E9] 500 fragments in one selection are refused by their tokens, else by their breadth", async () => {
    const query = `{${times(500, (i) => `...F${i}`)}} ${times(500, (i) => `fragment F${i} on Query{a{id a{id}}}`)}`;

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    expect(await verdict(uncapped, query)).toBe(BREADTH);
  });

  it("[graphql:E10] 2,000 inline fragments are refused by their tokens, else by their breadth", async () => {
    const query = `{${"...{a{id a{id}}} ".repeat(2_000)}}`;

    expect(await verdict(endpoint, query)).toBe(TOKENS);
    expect(await verdict(uncapped, query)).toBe(BREADTH);
  });

  it("[graphql:E11] fragments that spread each other in a circle are refused", async () => {
    const circle = (size: number): string =>
      `{a{...F0}} ${times(size, (i) => `fragment F${i} on A{id ...F${(i + 1) % size}}`)}`;

    for (const size of [1, 2, 1_000]) expect((await uncapped.query(circle(size))).status).toBe(400);
    expect(await verdict(endpoint, circle(1))).toMatch(/^400 /);
    expect(await verdict(endpoint, circle(2))).toMatch(/^400 /);
    expect(await verdict(endpoint, circle(1_000))).toBe(TOKENS);
  });

  it("[graphql:E12] fragments that fan out to 2^22 are refused: every spread counts", async () => {
    const query = `{a{...F0}} ${times(22, (i) => `fragment F${i} on A{...F${i + 1} ...F${i + 1}}`)} fragment F22 on A{id}`;

    expect(await said(endpoint, query)).toBe(`${BREADTH}: The operation's breadth is 4194304; the limit is 100`);
  });

  it("[graphql:E13] aliased fields that fan out to 2^60 are refused, and what they come to is a number", async () => {
    const structural = { tokens: null, depth: null, aliases: null, breadth: null };
    const byFields = await section.serve({ graph: { limits: structural } });
    const byCost = await section.serve({ graph: { limits: { ...structural, fields: null } } });
    const fragment = (i: number): string =>
      `fragment F${i} on ${i === 0 ? "Query" : "A"}{x:a{...F${i + 1}} y:a{...F${i + 1}}}`;

    for (const levels of [20, 40, 60]) {
      const query = `{...F0} ${times(levels, fragment)} fragment F${levels} on A{id}`;
      expect(await verdict(endpoint, query)).toBe(DEPTH);
      expect(await said(byFields, query)).toMatch(
        /^400 FIELD_LIMIT_EXCEEDED: The operation's field count is \d{7,16}; the limit is 1000$/,
      );
      expect(await said(byCost, query)).not.toMatch(/^(?!400)|Infinity|NaN|e\+/);
    }
    expect(await said(endpoint, nest(14, "list(first:100)"))).toBe(
      `${COST}: The operation's cost is ${Number.MAX_SAFE_INTEGER}; the limit is 5000`,
    );
  });

  it("[graphql:E14] a fragment is measured under any name", async () => {
    for (const name of ["F", "__schema", "__type", "__proto__", "constructor", "toString"]) {
      expect(await verdict(endpoint, `{...${name}} fragment ${name} on Query${nest(15, "a")}`), name).toBe(DEPTH);
      expect(await verdict(endpoint, `{...${name}} fragment ${name} on Query{${"hello ".repeat(101)}}`), name).toBe(
        BREADTH,
      );
    }
  });

  it("[graphql:E15] a fragment that was shallow once counts where it is deep", async () => {
    const fragment = `fragment F on A${nest(8, "a")}`;
    const deep = nest(7, "a", "...F");

    expect(await verdict(endpoint, `{a{...F}} ${fragment}`)).toBe("200");
    expect(await verdict(endpoint, `{a{...F} ${deep.slice(1)} ${fragment}`)).toBe(DEPTH);
    expect(await verdict(endpoint, `query{...{${deep.slice(1, -1)}} a{...F}} ${fragment}`)).toBe(DEPTH);
  });

  it("[graphql:E16] 5,000 unused fragments are refused by their length, else by their tokens", async () => {
    const query = `{hello} ${times(5_000, (i) => `fragment F${i} on A{id}`)}`;

    expect([await verdict(endpoint, query), await verdict(long, query)]).toEqual([CHARACTERS, TOKENS]);
  });

  it("[graphql:E17] thousands of directives are refused by their tokens, else as directives, with one error", async () => {
    for (const directives of ["@aa ".repeat(5_000), "@include(if:true) ".repeat(3_000)]) {
      const query = `{hello ${directives}}`;
      expect(await verdict(endpoint, query)).toBe(TOKENS);
      const answer = await uncapped.query(query);
      expect([`${answer.status} ${answer.code}`, answer.errors.length]).toEqual([DIRECTIVES, 1]);
    }
  });

  it("[graphql:E18] 5,000 variable definitions are refused by their tokens", async () => {
    expect(await verdict(endpoint, `query(${times(5_000, (i) => `$v${i}:Int`)}){hello}`)).toBe(TOKENS);
  });

  it("[graphql:E19] 3,000 operations are refused by their tokens", async () => {
    const query = times(3_000, (i) => `query Q${i}{hello}`);

    expect(await endpoint.post({ query, operationName: "Q7" })).toMatchObject({
      status: 400,
      code: "TOKEN_LIMIT_EXCEEDED",
    });
  });

  it("[graphql:E20] a long string and a long comment are one token each, 300,000 comments are as many", async () => {
    const ask = async (on: Endpoint, text: string): Promise<readonly string[]> => {
      const comments = await on.ask({
        headers: [["content-type", "application/graphql"]],
        body: `${"#\n".repeat(300_000)}{hello}`,
      });
      const block = await verdict(on, `{echo(s:"""${text}""")}`);
      return [`${comments.status} ${comments.code}`, block, await verdict(on, `#${text}\n{hello}`)];
    };

    expect(await ask(endpoint, "x".repeat(900_000))).toEqual([CHARACTERS, CHARACTERS, CHARACTERS]);
    expect(await ask(endpoint, "x".repeat(65_000))).toEqual([CHARACTERS, "200", "200"]);
    expect(await ask(long, "x".repeat(900_000))).toEqual([TOKENS, "200", "200"]);
  });

  it("[graphql:E21] what @skip leaves out counts", async () => {
    expect(await verdict(endpoint, `{a @skip(if:true)${nest(15, "a")}}`)).toBe(DEPTH);
    expect(await verdict(endpoint, "{list(first:100) @skip(if:true){list(first:100){id}}}")).toBe(COST);
    expect(await verdict(endpoint, "{... @include(if:false){list(first:100){list(first:100){id}}}}")).toBe(COST);
  });

  it("[graphql:E22] only the selected operation is measured, and all tokens count", async () => {
    const query = `query Big${nest(20, "a")} query Small{hello}`;
    const long = `query Big{${"hello ".repeat(2_000)}} query Small{hello}`;

    expect(await endpoint.post({ query, operationName: "Small" })).toMatchObject({
      status: 200,
      data: { hello: "world" },
    });
    expect(await endpoint.post({ query, operationName: "Big" })).toMatchObject({
      status: 400,
      code: "DEPTH_LIMIT_EXCEEDED",
    });
    expect(await endpoint.post({ query: long, operationName: "Small" })).toMatchObject({
      status: 400,
      code: "TOKEN_LIMIT_EXCEEDED",
    });
  });

  it("[graphql:E23] a size counts as at most the declared maximum", async () => {
    expect(await said(endpoint, "{list(first:1000000){list(first:1000000){id}}}")).toBe(
      `${COST}: The operation's cost is 10101; the limit is 5000`,
    );
  });

  it("[graphql:E24] a list multiplies when it declares a size, by its default where the size is omitted", async () => {
    const plain = await endpoint.query(nest(12, "plain"));
    const small = await endpoint.query(nest(11, "list(first:2)"));

    expect([plain.status, plain.errors, cost(plain)]).toEqual([200, [], 13]);
    expect(Math.abs(plain.text.length - 90_000)).toBeLessThan(5_000);
    expect(await said(endpoint, nest(12, "list"))).toBe(`${COST}: The operation's cost is 8191; the limit is 5000`);
    expect([small.status, small.errors, cost(small)]).toEqual([200, [], 4_095]);
  });

  it("[graphql:E25] introspection that is nested 50 deep is refused by its depth", async () => {
    expect(await verdict(endpoint, `{__schema{types{${"fields{type{".repeat(25)}name${"}}".repeat(25)}}}}`)).toBe(
      DEPTH,
    );
  });

  it("[graphql:E26] the standard introspection query fits", async () => {
    const variants = [
      getIntrospectionQuery(),
      getIntrospectionQuery({
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      }),
    ];

    for (const query of variants) {
      const answer = await endpoint.query(query);
      expect([answer.status, answer.errors]).toEqual([200, []]);
      expect(answer.operations[0]?.extensions?.cost).toMatchObject({ depth: 15, aliases: 0 });
      expect(answer.operations[0]?.extensions?.cost?.["fields"]).toBeGreaterThanOrEqual(220);
      expect(answer.operations[0]?.extensions?.cost?.["fields"]).toBeLessThanOrEqual(232);
      expect(answer.operations[0]?.extensions?.cost?.["breadth"]).toBeLessThanOrEqual(10);
    }
  });

  it("without a cost limit no cost is told, and the other limits hold", async () => {
    const costless = await section.serve({ graph: { limits: new Limits({ cost: null }) } });

    const answer = await costless.query(nest(12, "list"));
    expect([answer.status, answer.operations[0]?.extensions?.cost]).toEqual([200, undefined]);
    expect(costless.hooked[0]?.context.cost).toBeNull();
    expect(await verdict(costless, nest(15, "a"))).toBe(DEPTH);
    expect(await verdict(costless, `{${"hello ".repeat(101)}}`)).toBe(BREADTH);
  });

  it("[graphql:E28] a cost at the budget is taken, one more is not", async () => {
    const tight = await section.serve({ graph: { limits: { cost: 3 } } });

    const answer = await tight.query("{hello a{id}}");
    expect([answer.status, cost(answer)]).toEqual([200, 3]);
    expect(await said(tight, "{hello a{id __typename}}")).toBe(`${COST}: The operation's cost is 4; the limit is 3`);
  });

  it("[graphql:E29] a cost is a whole number, and what is free counts in the other limits", async () => {
    for (const wrong of [-1, 1.5, Number.NaN, 1e308]) {
      expect(() => field(t.string, { cost: wrong })(() => "")).toThrow(ConfigurationError);
      expect(() => field(t.string, { cost: wrong })(() => "")).toThrow("cost");
    }
    const free = field(t.string, { cost: 0 })(() => "free");
    const own = await section.serve({ schema: schema({ query: { free } }), graph: { limits: { breadth: 2 } } });

    const answer = await own.query("{free}");
    expect([answer.status, answer.data, cost(answer)]).toEqual([200, { free: "free" }, 0]);
    expect(await verdict(own, "{a:free b:free c:free}")).toBe(BREADTH);
  });

  it("[graphql:E30] the cost follows the variables, the document being known", async () => {
    const query = "query($n:Int){list(first:$n){list(first:$n){id}}}";

    expect(await endpoint.query(query, { n: 1 })).toMatchObject({ status: 200, errors: [] });
    expect(await endpoint.query(query, { n: 1_000_000 })).toMatchObject({ status: 400, code: "COST_LIMIT_EXCEEDED" });
    const uncoerced = await endpoint.query(query, { n: "x" });
    expect([uncoerced.status, uncoerced.code]).toEqual([400, "BAD_USER_INPUT"]);
    expect([uncoerced.operations[0]?.extensions, endpoint.hooked[0]?.context.cost]).toEqual([undefined, null]);
  });

  it("[graphql:E31] a size below 0 counts as none, a declared number as itself", async () => {
    const Item: ObjectType<{ readonly id: string }> = object("Item", { id: t.id });
    const items = field(t.list(Item), { listSize: 20 })(() => [{ id: "1" }]);
    const own = await section.serve({ schema: schema({ query: { items } }) });

    const negative = await endpoint.query("{list(first:-5){id}}");
    expect([negative.status, cost(negative)]).toEqual([200, 1]);
    expect(cost(await own.query("{items{id}}"))).toBe(21);
  });

  it("[graphql:E32] depth answers before validation, and validation before cost", async () => {
    expect(await verdict(endpoint, "{nope list(first:100){list(first:100){id}}}")).toBe(INVALID);
    expect(await verdict(endpoint, nest(15, "a", "nope"))).toBe(DEPTH);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

async function verdict(on: Endpoint, query: string): Promise<string> {
  const { status, code } = await on.query(query);
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** Status, code and the one sentence. */
async function said(on: Endpoint, query: string): Promise<string> {
  const { status, code, message, errors } = await on.query(query);
  expect(errors).toHaveLength(1);
  return `${status} ${code}: ${message}`;
}

function cost(answer: Answer): number | undefined {
  return answer.operations[0]?.extensions?.cost?.["cost"];
}

/** A selection of `field` so many times inside itself, around a leaf: its depth is one more. */
function nest(levels: number, field: string, leaf = "id"): string {
  return `{${`${field}{`.repeat(levels)}${leaf}${"}".repeat(levels)}}`;
}

function times(count: number, piece: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join(" ");
}
