import * as fc from "fast-check";
import { PageNumberPagination } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { bodyOf, books, bothWays, queryOf, serveOnce, target } from "../ways.ts";

/** An RFC 8288 header, read. */
function parseLinkHeader(header: string): Record<string, string> {
  return Object.fromEntries([...header.matchAll(/<([^>]*)>\s*;\s*rel="([^"]*)"/g)].map(([, url, rel]) => [rel, url]));
}

bothWays("links", (serve) => {
  const items = (options = {}) =>
    serve((app) => app.get("/items", ({ response }) => response.paginate(books(100), options)));

  it("[PGS-09] [pagination:PG-044] keep the other parameters, in order, encoded once", async () => {
    const client = await items();

    const plain = bodyOf(await client.get("/items?genre=a%26b&page=1"));
    const many = bodyOf(await client.get("/items?q=a%20b&tag=x&tag=y&page=2"));

    expect(plain.pagination.links["next"]).toMatch(/\?genre=a%26b&page=2&page_size=20$/);
    expect(many.pagination.links["next"]).toMatch(/\?q=a%20b&tag=x&tag=y&page=3&page_size=20$/);
    const sloppy = bodyOf(await client.get("/items?&q=%ag&&r=1%&%&page=1&"));
    expect(sloppy.pagination.links["next"]).toMatch(/\?q=%25ag&r=1%25&%25&page=2&page_size=20$/);
  });

  it("[PGS-19] [PGS-24] [pagination:PG-047] [pagination:PG-049] start with publicUrl if it is set", async () => {
    const client = await serve((app) => app.get("/api/items", ({ response }) => response.paginate(books(100))), {
      publicUrl: "https://api.example.org/v1",
    });

    const { links } = bodyOf(await client.get("/api/items?page=2", { headers: { host: "evil.example" } })).pagination;

    for (const link of Object.values(links)) expect(link).toMatch(/^https:\/\/api\.example\.org\/v1\/api\/items\?/);
    expect(Object.values(links).every((link) => URL.canParse(link))).toBe(true);
  });

  it("[PGS-20] [PGS-24] [pagination:PG-047] [pagination:PG-048] [pagination:PG-049] otherwise use the request's host, and forwarded hosts only from trusted proxies", async () => {
    const route = (app: { get: any }) => app.get("/api/v1/items", ({ response }: any) => response.paginate(books(100)));
    const trusting = await serve(route, { trustedProxies: ["loopback"] });
    const plain = await serve(route);
    const headers = { host: "api.example", "x-forwarded-host": "a, proxy.example", "x-forwarded-proto": "https" };
    const next = async (client: typeof plain, sent: Record<string, string>): Promise<string | undefined> =>
      bodyOf(await client.get("/api/v1/items?page=1", { headers: sent })).pagination.links["next"];

    expect(await next(trusting, headers)).toMatch(/^https:\/\/proxy\.example\/api\/v1\/items\?page=2/);
    expect(await next(plain, headers)).toMatch(/^http:\/\/api\.example\/api\/v1\/items\?page=2/);
    for (const blank of [" ", "a b", "x, "])
      expect(await next(trusting, { ...headers, "x-forwarded-host": blank })).toMatch(/^https:\/\/api\.example\//);
  });

  it("[PGS-21] are also sent as a Link header", async () => {
    const client = await items();

    const answer = await client.get("/items?page=2&q=%3E%22,");

    expect(parseLinkHeader(String(answer.headers["link"]))).toEqual(bodyOf(answer).pagination.links);
  });

  it("[PGS-25] [pagination:PG-045] omit the parameters in omitFromLinks, which is empty by default", async () => {
    const kept = await items();
    const omitted = await items({ omitFromLinks: ["access_token"] });

    const withSecret = await kept.get("/items?access_token=hush&q=1");
    const without = await omitted.get("/items?access_token=hush&q=1");

    expect(queryOf(bodyOf(withSecret).pagination.links["next"])["access_token"]).toBe("hush");
    expect(without.text() + String(without.headers["link"])).not.toContain("hush");
    expect(queryOf(bodyOf(without).pagination.links["next"])["q"]).toBe("1");
  });

  it("omit a parameter however its name is encoded", async () => {
    const client = await items({ omitFromLinks: ["a b", "c+d"] });

    const { links } = bodyOf(await client.get("/items?a+b=1&a%20b=2&c%2Bd=3&c+d=4&q=5")).pagination;

    expect(links["next"]).toMatch(/\?c\+d=4&q=5&page=2&page_size=20$/);
  });

  it("are separated by commas in the header", async () => {
    const { headers } = await (await items()).get("/items?page=2");

    expect(String(headers["link"]).split(", ")).toHaveLength(4);
  });

  it("are not sent as a header if it is disabled or too long", async () => {
    const off = await items({ linkHeader: false });
    const on = await items();

    expect((await off.get("/items")).headers["link"]).toBeUndefined();
    expect((await on.get(`/items?q=${"x".repeat(5_000)}`)).headers["link"]).toBeUndefined();
  });

  it("are sent as a header only under names that RFC 8288 allows without quotes, if they are text", async () => {
    class Own extends PageNumberPagination {
      override generateMetadata(): never {
        return { links: { first: "/1", "a b": "/2", "x;": "/3", up: null } } as never;
      }
    }
    const client = await items({ strategy: new Own() });

    expect((await client.get("/items")).headers["link"]).toBe('</1>; rel="first"');
  });

  it("are appended to an existing Link header", async () => {
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.header("link", '</help>; rel="help"').paginate(books(3))),
    );

    expect((await client.get("/items")).headers["link"]).toMatch(/^<\/help>; rel="help", <http/);
  });
});

describe("any query", () => {
  const name = fc.constantFrom("page", "page_size", "limit", "offset", "cursor", "q", "tag", 'q>"', "\u00e9");
  const value = fc.oneof(fc.integer({ min: -3, max: 200 }).map(String), fc.string({ unit: "grapheme", maxLength: 8 }));
  const query = fc.array(fc.tuple(name, value), { maxLength: 4 });

  it("[pagination:PG-116] [pagination:PG-117] [pagination:PG-118] is 200 or 400, and every link can be followed to an end", async () => {
    const client = await serveOnce((app) =>
      app
        .get("/pages", ({ response }) => response.paginate(books(45)))
        .get("/offsets", ({ response }) => response.paginate(books(45), { strategy: "limit_offset" }))
        .get("/cursors", ({ response }) => response.paginate(books(45), { strategy: "cursor" })),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("/pages", "/offsets", "/cursors"), query, async (path, pairs) => {
        const search = pairs.map(([key, text]) => `${encodeURIComponent(key)}=${encodeURIComponent(text)}`).join("&");
        const answer = await client.get(`${path}?${search}`);
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 400) return;
        let body = bodyOf(answer);
        expect(parseLinkHeader(String(answer.headers["link"]))).toEqual(body.pagination.links);
        for (const link of Object.values(body.pagination.links)) {
          const followed = await client.get(target(link));
          expect(followed.status).toBe(200);
          expect(Object.keys(bodyOf(followed).pagination)).toEqual(Object.keys(body.pagination));
        }
        let steps = 0;
        for (; body.pagination.links["next"] !== undefined; steps++)
          body = bodyOf(await client.get(target(body.pagination.links["next"])));
        expect(steps).toBeLessThanOrEqual(45);
        for (; body.pagination.links["prev"] !== undefined; steps++)
          body = bodyOf(await client.get(target(body.pagination.links["prev"])));
        expect(steps).toBeLessThanOrEqual(95);
        expect(body.items[0]?.id ?? 1).toBe(1);
      }),
      { numRuns: 60 },
    );
  });
});
