import type { DocumentNode } from "graphql";
import {
  type AnyPaths,
  type Client,
  createClient,
  type ErrorCode,
  PorticoClientError,
  type ServerErrorCode,
  type SubscriptionEvent,
} from "portico-client";
import { describe, expectTypeOf, it } from "vitest";
import type { errorCodes } from "../../src/core/error-codes.ts";

/** As in `@graphql-typed-document-node/core`. */
type TypedDocumentNode<Result, Variables = { [key: string]: never }> = DocumentNode & {
  __apiType?: (variables: Variables) => Result;
};

interface Book {
  id: string;
  title: string;
}

// In the form that openapi-typescript writes, with the members of absent methods left out.
interface paths {
  "/books": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { page_size?: number; sort?: ("title" | "-title")[] }; path?: never };
      requestBody?: never;
      responses: {
        200: { headers: object; content: { "application/json": { items: Book[]; pagination: { has_more: boolean } } } };
        400: { content: { "application/problem+json": { code: string } } };
      };
    };
    post: {
      parameters: { query?: never; path?: never };
      requestBody: { content: { "application/json": { title: string } } };
      responses: { 201: { content: { "application/json": Book } } };
    };
    put?: never;
  };
  "/books/{id}": {
    get: {
      parameters: { query?: never; path: { id: string } };
      requestBody?: never;
      responses: { 200: { content: { "application/json": Book } } };
    };
    delete: {
      parameters: { path: { id: string } };
      requestBody?: never;
      responses: { 204: { headers: object; content?: never } };
    };
  };
  "/search": {
    get: {
      parameters: { query: { text: string } };
      requestBody?: never;
      responses: { 200: { content: { "text/csv": string } } };
    };
  };
}

const client: Client<paths> = createClient<paths>({ url: "https://shop.example" });

describe("a REST request", () => {
  it("returns the body of the successful response", () => {
    expectTypeOf(client.get("/books/{id}", { path: { id: "1" } })).resolves.toEqualTypeOf<Book>();
    expectTypeOf(client.post("/books", { body: { title: "Emma" } })).resolves.toEqualTypeOf<Book>();
    expectTypeOf(client.delete("/books/{id}", { path: { id: "1" } })).resolves.toEqualTypeOf<undefined>();
    expectTypeOf(client.get("/search", { query: { text: "e" } })).resolves.toEqualTypeOf<string>();
    expectTypeOf(client.get("/books")).resolves.toHaveProperty("items").toEqualTypeOf<Book[]>();
  });

  it("does not compile with an unknown path, or a method that the path lacks", () => {
    // @ts-expect-error there is no such path
    void client.get("/bookz");
    // @ts-expect-error the path has no put
    void client.put("/books", { body: {} });
    // @ts-expect-error the path has no post
    void client.post("/books/{id}", { path: { id: "1" } });
  });

  it("does not compile with wrong or missing parameters and bodies", () => {
    // @ts-expect-error the path has a parameter
    void client.get("/books/{id}");
    // @ts-expect-error the parameter is a string
    void client.get("/books/{id}", { path: { id: 1 } });
    // @ts-expect-error the parameter is required
    void client.get("/search", { query: {} });
    // @ts-expect-error the list cannot be sorted by this name
    void client.get("/books", { query: { sort: ["price"] } });
    // @ts-expect-error the body is required
    void client.post("/books");
    // @ts-expect-error the title is a string
    void client.post("/books", { body: { title: 5 } });
  });

  it("is not typed without paths", () => {
    const untyped = createClient({ url: "https://shop.example" });

    expectTypeOf(untyped).toEqualTypeOf<Client<AnyPaths>>();
    expectTypeOf(untyped.get("/anything", { query: { a: 1 } })).resolves.toBeAny();
  });
});

declare const Find: TypedDocumentNode<{ book: Book | null }, { id: string }>;
declare const All: TypedDocumentNode<Books, { first?: number | null; after?: string | null }>;
declare const Me: TypedDocumentNode<{ me: string }, { [key: string]: never }>;
declare const Live: TypedDocumentNode<{ stock: number }, { book: string }>;
interface Books {
  books: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; edges: { node: Book }[] };
}

describe("a GraphQL operation", () => {
  it("has the types of its document", () => {
    expectTypeOf(client.graphql(Find, { variables: { id: "1" } })).resolves.toEqualTypeOf<{ book: Book | null }>();
    expectTypeOf(client.graphql(Me)).resolves.toEqualTypeOf<{ me: string }>();
    expectTypeOf(client.graphql<{ a: number }>("{ a }")).resolves.toEqualTypeOf<{ a: number }>();
    expectTypeOf(client.graphql("{ a }", { variables: { b: 1 } })).resolves.toBeAny();
  });

  it("does not compile with wrong or missing variables", () => {
    // @ts-expect-error the variable is required
    void client.graphql(Find);
    // @ts-expect-error the variable is a string
    void client.graphql(Find, { variables: { id: 1 } });
    // @ts-expect-error the document has no such variable
    void client.graphql(Find, { variables: { id: "1", isbn: "2" } });
  });
});

describe("a walk", () => {
  it("has the items of a list, and the nodes of a connection", () => {
    expectTypeOf(client.walk("/books")).toExtend<AsyncIterable<Book>>();
    expectTypeOf(client.walk("/books").pages()).toExtend<AsyncIterable<{ pagination: { has_more: boolean } }>>();
    expectTypeOf(client.walk(All, { connection: ({ books }) => books })).toExtend<AsyncIterable<Book>>();
  });

  it("does not compile for a path that is not a list, or without a connection", () => {
    // @ts-expect-error the response is not a page
    void client.walk("/books/{id}", { path: { id: "1" } });
    // @ts-expect-error the data of the operation is not a connection
    void client.walk(Find, { variables: { id: "1" }, connection: (data) => data.book });
  });
});

describe("a subscription", () => {
  it("has the data of its document, which may be null", () => {
    expectTypeOf(client.subscribe(Live, { variables: { book: "1" } })).toExtend<
      AsyncIterable<SubscriptionEvent<{ stock: number }>>
    >();
    expectTypeOf<SubscriptionEvent<number>["data"]>().toEqualTypeOf<number | null>();
    // @ts-expect-error the variable is required
    void client.subscribe(Live);
  });
});

describe("an error", () => {
  it("has the codes of Portico, those of the client, and any other", () => {
    const { code } = new PorticoClientError("", { code: "RATE_LIMITED", status: 429 });

    expectTypeOf<ServerErrorCode>().toEqualTypeOf<keyof typeof errorCodes>();
    expectTypeOf(code).toEqualTypeOf<ErrorCode>();
    expectTypeOf<"OUT_OF_STOCK">().toExtend<ErrorCode>();
  });
});
