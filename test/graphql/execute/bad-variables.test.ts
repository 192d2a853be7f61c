import { field, type InputType, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, openSchema } from "../endpoint/open.ts";

interface InnerInput {
  readonly n?: number | null;
  readonly self?: InnerInput | null;
}
const Inner: InputType<InnerInput> = t.input("Inner", { n: t.nullable(t.int), self: t.nullable(() => Inner) });
const Outer = t.input("Outer", { inner: t.nullable(Inner), list: t.nullable(t.list(Inner)) });
const built = schema({
  query: {
    one: field(t.string, { params: { o: t.nullable(Outer), n: t.nullable(t.int) } })(({ o, n }) =>
      JSON.stringify({ o, n }),
    ),
    many: field(t.string, { params: { list: t.nullable(t.list(Outer)) } })(({ list }) => JSON.stringify(list)),
  },
});

async function sent(query: string, variables: Readonly<Record<string, unknown>>) {
  const { client } = await openSchema(built);
  const response = await client.post("/graphql", { body: { query, variables } });
  const { data, errors = [] } = bodyOf(response);
  const found = errors.map(({ message, locations, extensions }) => [extensions.code, message, locations]);
  return found.length === 0 ? data : [response.status, ...found];
}

/** An object in so many others. */
const nested = (levels: number): object => Array.from({ length: levels }).reduce<object>((self) => ({ self }), {});

const ONE = "query ($o: Outer) { one(o: $o) }";
const MANY = "query ($list: [Outer!]!) { many(list: $list) }";

describe("a variable of the wrong type", () => {
  it("is reported with its place in the document", async () => {
    expect(await sent("query ($n: Int, $o: Outer) { one(n: $n, o: $o) }", { n: "x" })).toEqual([
      400,
      [
        "BAD_USER_INPUT",
        expect.stringContaining('Int cannot represent non-integer value: "x"'),
        [{ line: 1, column: 8 }],
      ],
    ]);
  });

  it.each([
    ["an object", ONE, { o: { inner: {}, list: [], third: 1 } }, "Outer", 8],
    ["an object in an object", ONE, { o: { inner: { n: 1, self: null, third: 1 } } }, "Inner", 8],
    ["an object in a list", ONE, { o: { list: [{}, { a: 1, b: 2, c: 3 }] } }, "Inner", 8],
    ["an item", MANY, { list: [{ a: 1, b: 2, c: 3 }] }, "Outer", 8],
    ["an object instead of a list", MANY, { list: { a: 1, b: 2, c: 3 } }, "Outer", 8],
  ])(
    "is rejected for %s with more fields than its type, also if they are known",
    async (_title, query, variables, type, column) => {
      const [name] = Object.keys(variables);

      expect(await sent(query, variables)).toEqual([
        400,
        [
          "BAD_USER_INPUT",
          `Variable "$${name}" contains an object with more fields than its type "${type}"`,
          [{ line: 1, column }],
        ],
      ]);
    },
  );

  it("is rejected for objects nested more than 500 levels deep, and accepted for 500", async () => {
    expect(await sent(ONE, { o: { inner: nested(499) } })).toHaveProperty("one");
    expect(await sent(ONE, { o: { inner: nested(500) } })).toEqual([
      400,
      ["BAD_USER_INPUT", 'Variable "$o" contains objects nested more than 500 levels deep', [{ line: 1, column: 8 }]],
    ]);
  });
});

describe("a variable of an input type", () => {
  it.each([
    [ONE, {}, { one: '{"o":null,"n":null}' }],
    [ONE, { o: null }, { one: '{"o":null,"n":null}' }],
    [
      ONE,
      { o: { inner: { n: 1 }, list: [{ n: 2 }] } },
      { one: '{"o":{"inner":{"n":1,"self":null},"list":[{"n":2,"self":null}]},"n":null}' },
    ],
    [
      ONE,
      { o: { list: { n: 2 } }, other: { a: 1, b: 2, c: 3 } },
      { one: '{"o":{"inner":null,"list":[{"n":2,"self":null}]},"n":null}' },
    ],
    [MANY, { list: [{ inner: null }, {}] }, { many: '[{"inner":null,"list":null},{"inner":null,"list":null}]' }],
  ])("may be omitted, null, or as large as its type: %s with %j", async (query, variables, data) => {
    expect(await sent(query, variables)).toEqual(data);
  });

  it("that is required has to be sent", async () => {
    expect(await sent(MANY, {})).toEqual([
      400,
      ["BAD_USER_INPUT", expect.stringMatching(/^Variable "\$list" .*"\[Outer!\]!"/), [{ line: 1, column: 8 }]],
    ]);
  });
});
