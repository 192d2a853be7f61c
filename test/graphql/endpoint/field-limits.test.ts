import { ConfigurationError, Depend, rateLimit } from "portico";
import { field, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { expect, it } from "vitest";
import { bodyOf, codesOf, openSchema } from "./open.ts";

interface BookRow {
  readonly id: string;
  readonly blurb: string;
}

/** A schema with its own limits, and a list of the fields that ran. */
function shop(perMinute: number): { readonly built: ReturnType<typeof schema>; readonly ran: string[] } {
  const ran: string[] = [];
  const limit = rateLimit({ perMinute });
  const writer = (): void => void ran.push("dependency");
  const Book: ObjectType<BookRow> = object("Book", {
    id: t.id,
    blurb: field(t.nullable(t.string), { limit: rateLimit({ perMinute }) }),
  });
  const books = ["1", "2", "3"].map((id) => ({ id, blurb: `about ${id}` }));
  const built = schema({
    query: { books: field(t.list(Book))(() => books) },
    mutation: {
      send: mutation(t.nullable(t.string), { params: { text: t.string, writer: Depend(writer) }, limit })(
        ({ text }) => {
          ran.push(text);
          return text;
        },
      ),
      gated: mutation(t.nullable(t.string), { auth: true, limit })(() => "never"),
    },
    subscription: {
      live: subscription(t.int, { limit: rateLimit({ perMinute }) })(async function* () {
        yield 1;
      }),
    },
  });
  return { built, ran };
}
const sending = (count: number): string =>
  `mutation { ${Array.from({ length: count }, (_, n) => `m${n}: send(text: "${n}")`).join(" ")} }`;

it("counts every alias of a mutation, and rejects only those over the limit", async () => {
  const { built, ran } = shop(5);
  const { client } = await openSchema(built);

  const answer = await client.post("/graphql", { body: { query: sending(9) } });

  const { data, errors = [] } = bodyOf(answer);
  expect(answer.status).toBe(200);
  expect(Object.values(data ?? {})).toEqual(["0", "1", "2", "3", "4", null, null, null, null]);
  expect(ran).toEqual(["dependency", "0", "1", "2", "3", "4"]);
  expect(codesOf(answer)).toEqual(Array.from({ length: 4 }, () => "RATE_LIMITED"));
  expect(errors[0]).toMatchObject({ path: ["m5"], extensions: { retryAfter: expect.any(Number) as number } });
  expect(errors[0]?.message).toBe(`Too many attempts, retry in ${String(errors[0]?.extensions["retryAfter"])} s`);
  expect(answer.headers["retry-after"]).toBeUndefined();
});

it("counts across operations, and opens no dependency for a rejected field", async () => {
  const { built, ran } = shop(1);
  const { client } = await openSchema(built);
  await client.post("/graphql", { body: { query: sending(1) } });

  const again = await client.post("/graphql", { body: { query: sending(1) } });

  expect(codesOf(again)).toEqual(["RATE_LIMITED"]);
  expect(ran).toEqual(["dependency", "0"]);
});

it("calls the gate first: denied calls are not counted", async () => {
  const { built } = shop(1);
  const { client } = await openSchema(built);

  const answer = await client.post("/graphql", {
    body: { query: 'mutation { a: gated b: gated c: send(text: "x") }' },
  });

  expect(codesOf(answer)).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED"]);
  expect(bodyOf(answer).data).toEqual({ a: null, b: null, c: "x" });
});

it("counts a property for every object", async () => {
  const { client } = await openSchema(shop(2).built);

  const answer = await client.post("/graphql", { body: { query: "{ books { blurb } }" } });

  expect(bodyOf(answer).data).toEqual({ books: [{ blurb: "about 1" }, { blurb: "about 2" }, { blurb: null }] });
  expect(codesOf(answer)).toEqual(["RATE_LIMITED"]);
});

it("counts the starts of a subscription", async () => {
  const { client } = await openSchema(shop(1).built);
  const start = async (): Promise<string> =>
    (
      await client.post("/graphql", {
        headers: { accept: "text/event-stream" },
        body: { query: "subscription { live }" },
      })
    ).text();

  expect(await start()).toContain('"live":1');
  expect(await start()).toContain('"code":"RATE_LIMITED"');
});

it("separates callers by its key, and can be called in a resolver", async () => {
  const limit = rateLimit({ perMinute: 1, key: ({ request }) => request.headers["x-user"] ?? "" });
  const { client } = await openSchema(
    schema({
      query: {
        many: field(t.nullable(t.int), { params: { count: t.int } })(async ({ count, ctx }) => {
          for (let n = 0; n < count; n++) await limit.attempt(ctx);
          return count;
        }),
      },
    }),
  );
  const many = async (user: string, count: number): Promise<readonly unknown[]> =>
    codesOf(
      await client.post("/graphql", { headers: { "x-user": user }, body: { query: `{ many(count: ${count}) }` } }),
    );

  expect([await many("ada", 1), await many("bob", 2), await many("ada", 1)]).toEqual([
    [],
    ["RATE_LIMITED"],
    ["RATE_LIMITED"],
  ]);
});

it("accepts only the result of rateLimit, and not for a shared subscription", () => {
  expect(() => field(t.int, { limit: { perMinute: 5 } as never })).toThrow(
    "field.limit must be a limit made by rateLimit(), received an object (Object)",
  );
  expect(() => field(t.int, { limit: (() => {}) as never })).toThrow(ConfigurationError);
  expect(() => subscription(t.int, { shared: true, limit: rateLimit({ perMinute: 5 }) })).toThrow(
    "subscription.limit cannot be combined with shared",
  );
});
