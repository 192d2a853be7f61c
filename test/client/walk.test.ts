import { createClient } from "portico-client";
import { describe, expect, it } from "vitest";
import { books } from "./client-app.ts";
import { clientServer } from "./client-server.ts";

const BOOKS =
  "query ($first: Int, $after: String) { books(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { id } } } }";
interface Books {
  readonly books: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly edges: readonly { readonly node: { readonly id: string } }[];
  };
}
const ids = books.map(({ id }) => id);

describe("a walk", () => {
  it("yields the items of a list in order, by cursors and by page numbers", async () => {
    const { url, seen } = await clientServer();
    const client = createClient({ url });

    const byCursor = await Array.fromAsync(client.walk("/books", { query: { page_size: 20 } }));
    const byNumber = await Array.fromAsync(client.walk("/numbered", { query: { page_size: 40 } }));

    expect(byCursor).toEqual(books);
    expect(byNumber).toEqual(books);
    expect(seen).toHaveLength(5 + 3);
  });

  it("yields the pages, and fetches none that is not asked for", async () => {
    const { url, seen } = await clientServer();
    const sizes: number[] = [];

    for await (const page of createClient({ url })
      .walk("/books", { query: { page_size: 30 } })
      .pages()) {
      sizes.push(page.items.length);
      if (sizes.length === 2) break;
    }

    expect(sizes).toEqual([30, 30]);
    expect(seen).toHaveLength(2);
  });

  it("yields the nodes of a GraphQL connection, and its pages", async () => {
    const client = createClient({ url: (await clientServer()).url });
    const walk = client.walk(BOOKS, { variables: { first: 40 }, connection: (data: Books) => data.books });

    expect((await Array.fromAsync(walk)).map(({ id }) => id)).toEqual(ids);
    expect((await Array.fromAsync(walk.pages())).map(({ edges }) => edges.length)).toEqual([40, 40, 15]);
  });

  it("ends when its signal aborts", async () => {
    const client = createClient({ url: (await clientServer()).url });
    const controller = new AbortController();
    const walked: unknown[] = [];

    const walking = (async () => {
      for await (const book of client.walk("/books", { signal: controller.signal }))
        if (walked.push(book) === 3) controller.abort(new Error("enough"));
    })();

    await expect(walking).rejects.toThrow("enough");
    expect(walked).toHaveLength(20);
  });

  it("ends when its signal aborts while it waits for a server that is down", async () => {
    const controller = new AbortController();
    const fetch = (): Promise<never> => {
      setTimeout(() => controller.abort(new Error("too late")), 10);
      return Promise.reject(new TypeError("down"));
    };
    const client = createClient({ url: "http://127.0.0.1", fetch });

    const walking = Array.fromAsync(client.walk("/books", { signal: controller.signal, retries: 100 }));

    await expect(walking).rejects.toThrow("too late");
  });

  it("gives up after its retries, and at once if the request is wrong", async () => {
    let calls = 0;
    const client = createClient({
      url: (await clientServer()).url,
      fetch: (url, init) => {
        calls += 1;
        return url.includes("bad") ? fetch(url, init) : Promise.reject(new TypeError("down"));
      },
    });

    await expect(Array.fromAsync(client.walk("/books", { retries: 1 }))).rejects.toMatchObject({
      code: "NETWORK_ERROR",
    });
    await expect(Array.fromAsync(client.walk("/books", { query: { cursor: "bad" } }))).rejects.toMatchObject({
      code: "INVALID_CURSOR",
    });

    expect(calls).toBe(3);
  });
});
