import type { GraphQL } from "./graphql.ts";
import type { RequestOptions } from "./request.ts";
import type { AnyRestOptions, Rest } from "./rest.ts";
import { retrying } from "./retrying.ts";

/**
 * The items of a list, page by page. The next page is fetched when the items of the previous one have been used.
 *
 * @example
 * ```ts
 * import { createClient } from "portico-client";
 *
 * const client = createClient({ url: "https://shop.example" });
 * for await (const book of client.walk("/books", { query: { page_size: 100 } })) console.log(book.title);
 * ```
 */
export interface Walk<Item, Page> extends AsyncIterable<Item> {
  /** The pages instead of their items. */
  pages(): AsyncIterable<Page>;
}

/** The options of a walk. */
export interface WalkOptions {
  /** How often a page is requested again after an outage, one time after the other. @default 5 */
  readonly retries?: number;
}

/** A connection of a GraphQL API, as far as a walk reads it. */
export interface AnyConnection {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: unknown };
  readonly nodes?: readonly unknown[] | null;
  readonly edges?: readonly unknown[] | null;
}

/** The items of a connection, from its `nodes` or its `edges`. Those of a document without types are `any`. */
export type NodeOf<Connection> = 0 extends 1 & Connection
  ? any
  : Connection extends { readonly nodes: readonly (infer Node)[] }
    ? Node
    : Connection extends { readonly edges: readonly (infer Edge)[] }
      ? Edge extends { readonly node: infer Node }
        ? Node
        : never
      : never;

interface AnyPage {
  readonly items: readonly unknown[];
  readonly pagination: { readonly links?: { readonly next?: string | null } };
}

/** Walks through the pages of a REST list by their links. */
export function walkList(rest: Rest, path: string, options: AnyRestOptions & WalkOptions = {}): Walk<unknown, AnyPage> {
  const { retries, query, ...rest_ } = options;
  return walkOf(
    async function* () {
      let at: AnyRestOptions["query"] | null = query;
      while (at !== null) {
        const asked: AnyRestOptions = { ...rest_, query: at };
        const page = (await retrying(() => rest("GET", path, asked), retries, options.signal)) as AnyPage;
        yield page;
        const next: string | null | undefined = page.pagination.links?.next;
        // Only the query of the link is used: behind a proxy, the server may not know its own address.
        at = next ? new URL(next).search : null;
      }
    },
    ({ items }) => items,
  );
}

/** The options of a walk through a connection, without their types. */
export interface AnyConnectionOptions extends RequestOptions, WalkOptions {
  readonly variables?: unknown;
  readonly connection: (data: never) => AnyConnection | null | undefined;
}

/** Walks through the pages of a GraphQL connection by its `pageInfo`. */
export function walkConnection(
  graphql: GraphQL,
  document: unknown,
  { retries, connection, variables, ...rest }: AnyConnectionOptions,
): Walk<unknown, AnyConnection> {
  return walkOf(
    async function* () {
      let after: object = {};
      for (;;) {
        const asked = { ...rest, variables: { ...(variables as object | undefined), ...after } };
        const data = await retrying(() => graphql(document, asked), retries, rest.signal);
        const page = connection(data as never);
        if (!page) return;
        yield page;
        if (!page.pageInfo.hasNextPage) return;
        after = { after: page.pageInfo.endCursor };
      }
    },
    ({ nodes, edges }) => nodes ?? (edges ?? []).map((edge) => (edge as { readonly node: unknown }).node),
  );
}

function walkOf<Page>(
  pages: () => AsyncGenerator<Page>,
  itemsOf: (page: Page) => readonly unknown[],
): Walk<unknown, Page> {
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page);
    },
  };
}
