import { PorticoApp, type PorticoAppOptions } from "portico";
import { liveClient, type TestClient, type TestResponse, testClient } from "portico/testing";
import { describe, onTestFinished } from "vitest";

export interface Book {
  readonly id: number;
  readonly title: string;
}

export const SECRET = "a secret of at least thirty-two bytes";

/** Items with the ids 1 to `count`. */
export function books(count: number): Book[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, title: `Book ${index + 1}` }));
}

/** Builds an app with routes and returns a client for it, which is closed when the test ends. */
export type Serve = (declare: (app: PorticoApp) => unknown, options?: PorticoAppOptions) => Promise<TestClient>;

/** Runs the tests twice: straight to the routes, and over a real socket. */
export function bothWays(title: string, body: (serve: Serve) => void): void {
  describe(`${title}, straight to the routes`, () => {
    body(serveWith(async (app) => testClient(app)));
  });
  describe(`${title}, over a socket`, () => {
    body(serveWith(liveClient));
  });
}

function serveWith(open: (app: PorticoApp) => Promise<TestClient>): Serve {
  return async (declare, options = {}) => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET], ...options });
    declare(app);
    onTestFinished(() => app.close());
    return open(app);
  };
}

/** One request straight to the routes. */
export const serveOnce: Serve = serveWith(async (app) => testClient(app));

export interface Body<M = Record<string, unknown>> {
  readonly items: readonly Book[];
  readonly pagination: M & { readonly links: Readonly<Record<string, string>> };
}

export function bodyOf<M = Record<string, unknown>>(answer: TestResponse): Body<M> {
  return answer.json() as Body<M>;
}

export function ids({ items }: { readonly items: readonly { readonly id: unknown }[] }): unknown[] {
  return items.map(({ id }) => id);
}

/** Columns that every caller may know, for `sortable` of lists without an item schema. */
export function publicColumns<const C extends string>(
  ...columns: readonly C[]
): readonly { readonly column: C; readonly public: true }[] {
  return columns.map((column) => ({ column, public: true }));
}

/** The filters, by columns that every caller may know. */
export function publicFilters<const F extends Readonly<Record<string, object>>>(
  filters: F,
): { readonly [K in keyof F]: F[K] & { readonly public: true } } {
  return Object.fromEntries(
    Object.entries(filters).map(([name, filter]) => [name, { ...filter, public: true }]),
  ) as never;
}

/** Whole numbers from one to the other. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** The query of a link, as plain values. */
export function queryOf(link: string | undefined): Record<string, string> {
  return Object.fromEntries(new URL(link ?? "").searchParams);
}

/** Path and query of a link, to follow it. */
export function target(link: string | undefined): string {
  const { pathname, search } = new URL(link ?? "");
  return pathname + search;
}

/** Returns the ids on all pages by following the links, and those on the way back, in the same order. */
export async function thereAndBack(
  client: TestClient,
  first: string,
): Promise<{ readonly forward: readonly unknown[]; readonly backward: readonly unknown[] }> {
  const forward: unknown[] = [];
  let body = bodyOf(await client.get(first));
  for (;;) {
    forward.push(...ids(body));
    if (body.pagination.links["next"] === undefined) break;
    body = bodyOf(await client.get(target(body.pagination.links["next"])));
  }
  const backward = ids(body);
  while (body.pagination.links["prev"] !== undefined) {
    body = bodyOf(await client.get(target(body.pagination.links["prev"])));
    backward.unshift(...ids(body));
  }
  return { forward, backward };
}
