import { type DocumentNode, parse, print } from "graphql";
import { createClient } from "portico-client";
import { describe, expect, it } from "vitest";
import { printDocument } from "../../packages/portico-client/src/print-document.ts";
import { clientServer, signedIn, spoil } from "./client-server.ts";

/** As in `@graphql-typed-document-node/core`. */
type TypedDocumentNode<Result, Variables = { [key: string]: never }> = DocumentNode & {
  __apiType?: (variables: Variables) => Result;
};

const Add = parse("query Add($a: Int!, $b: Int!) { add(a: $a, b: $b) }") as TypedDocumentNode<
  { add: number },
  { a: number; b: number }
>;

describe("a GraphQL operation", () => {
  it("takes a typed document, a string, and an object whose text is a document", async () => {
    const client = createClient({ url: (await clientServer()).url });
    const text = new String("{ hello }") as object as TypedDocumentNode<{ hello: string }>;

    expect(await client.graphql(Add, { variables: { a: 2, b: 3 } })).toEqual({ add: 5 });
    expect(await client.graphql("{ hello }")).toEqual({ hello: "world" });
    expect(await client.graphql(text)).toEqual({ hello: "world" });
  });

  it("rejects with the first error, all errors, and the fields that were resolved", async () => {
    const client = createClient({ url: (await clientServer()).url });

    await expect(client.graphql("{ hello secret }")).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      status: 200,
      correlationId: expect.any(String),
      errors: [{ path: ["secret"] }],
      data: { hello: "world", secret: null },
    });
    await expect(client.graphql("{ nothing }")).rejects.toMatchObject({
      code: "GRAPHQL_VALIDATION_FAILED",
      status: 400,
    });
  });

  it("uploads the files in its variables", async () => {
    const client = createClient({ url: (await clientServer()).url });
    const file = new Blob(["four"], { type: "text/plain" });

    const data = await client.graphql("mutation ($file: Upload!) { measure(file: $file) }", { variables: { file } });

    expect(data).toEqual({ measure: 4 });
  });

  it("is sent again with a fresh token, except for a mutation that has done some of its work", async () => {
    const { url } = await clientServer();
    const { client, tokens } = await signedIn(url);

    await spoil(tokens);
    expect(await client.graphql("mutation { sellSecretly }")).toEqual({ sellSecretly: 1 });
    await spoil(tokens);
    await expect(client.graphql("mutation { sell sellSecretly }")).rejects.toMatchObject({ data: { sell: 2 } });

    expect(await client.graphql("{ sales }")).toEqual({ sales: 2 });
  });
});

describe("a printed document", () => {
  it("means the same as the text that it was parsed from", () => {
    const text = `
      query Q($a: [Int!]! = [1, 2], $b: In = { c: "x\\n\\"y\\"", d: null, e: RED, f: -1.5e3, g: true } @d) @e(f: $a) {
        alias: field(a: $a, b: [], c: {}) @include(if: true) { ...F ... on T @skip(if: false) { id } ... { x } }
        block(text: """a "block" \\u{1F600}""")
      }
      mutation M { m }
      subscription { s }
      fragment F on T @g { y }
    `;
    const document = parse(text);

    expect(parse(printDocument(document), { noLocation: true })).toEqual(
      withoutBlocks(parse(text, { noLocation: true })),
    );
    expect(print(parse(printDocument(document)))).toBe(print(withoutBlocks(document)));
  });
});

/** Block strings are printed as strings with the same value. */
function withoutBlocks(document: DocumentNode): DocumentNode {
  return JSON.parse(JSON.stringify(document), (key, value) => (key === "block" ? false : value)) as DocumentNode;
}
