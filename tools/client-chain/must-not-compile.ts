import { createClient } from "portico-client";
import type { paths } from "./generated/paths.d.ts";
import { graphql } from "./graphql.ts";

const client = createClient<paths>({ url: "https://shop.example" });
const Author = graphql("query Author($id: ID!) { author(id: $id) { name } }");

/** Never called. Each line is an error, which the compiler must report. */
export async function mustNotCompile(): Promise<void> {
  // @ts-expect-error there is no such genre
  await client.get("/books", { query: { genre: "cookery" } });
  // @ts-expect-error there is no such path
  await client.get("/bookz");
  // @ts-expect-error the body has a list of books
  await client.post("/orders", { body: { book: "book-1" } });
  // @ts-expect-error the variable is required
  await client.graphql(Author);
  const { author } = await client.graphql(Author, { variables: { id: "author-1" } });
  // @ts-expect-error the document does not select the year of birth
  void author?.born;
}
