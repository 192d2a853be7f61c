import type { Kysely } from "kysely";
import type { Database } from "portico/sql";
import { expectFlat, type StatementWatch, type TestClient, watchStatements } from "portico/testing";
import { describe, expectTypeOf, it } from "vitest";

declare const database: Database<{ books: { id: string } }>;
declare const other: Kysely<{ books: { id: string } }>;
declare const client: TestClient;
declare const watch: StatementWatch;

describe("watchStatements", () => {
  it("takes any Kysely instance", () => {
    expectTypeOf(watchStatements(database)).toEqualTypeOf<StatementWatch>();
    expectTypeOf(watchStatements(other)).toEqualTypeOf<StatementWatch>();
    // @ts-expect-error a URL is not a database
    watchStatements("sqlite::memory:");
  });
});

describe("expectFlat", () => {
  it("takes a function of the page size that returns a response", () => {
    expectTypeOf(expectFlat(watch, (first) => client.graphql("{ books }", { first }))).toEqualTypeOf<Promise<void>>();
    expectTypeOf(
      expectFlat(watch, (page_size) => client.get("/books", { query: { page_size } }), { sizes: [2, 20] }),
    ).toEqualTypeOf<Promise<void>>();
    // @ts-expect-error the response is missing
    void expectFlat(watch, () => "a text");
    // @ts-expect-error sizes are numbers
    void expectFlat(watch, (first) => client.graphql("{ books }", { first }), { sizes: ["2", "20"] });
  });
});
