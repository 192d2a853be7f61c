import { beforeAll, describe, expect, it } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken, type Headers } from "./sign-in.ts";

let shop: Shop;
let admin: Headers;
beforeAll(async () => {
  shop = await openShop({ books: 5, users: 2 });
  admin = await byToken(shop.client, "admin");
});

describe("metrics for admins", () => {
  it.each(["/operations/metrics", "/operations/prometheus", "/operations/page"])(
    "are visible only to them: %s",
    async (path) => {
      const anonymous = await shop.client.get(path);
      const staff = await shop.client.get(path, { headers: await byToken(shop.client, "staff") });
      const shown = await shop.client.get(path, { headers: admin });

      expect([anonymous.status, staff.status, shown.status]).toEqual([401, 403, 200]);
    },
  );

  it("count operations by name, and have a page", async () => {
    await shop.client.graphql("query Newest { books(first: 1) { nodes { title } } }");

    const metrics = await shop.client.get("/operations/metrics", { headers: admin });
    const prometheus = await shop.client.get("/operations/prometheus", { headers: admin });
    const page = await shop.client.get("/operations/page", { headers: { ...admin, accept: "text/html" } });

    expect(metrics.json()).toMatchObject({
      operations: { Newest: { count: 1, errors: 0 } },
      routes: { "POST /graphql": { errors: 0 } },
    });
    for (const label of ['operation="Newest"', 'route="/graphql"', 'statement="select"'])
      expect(prometheus.text()).toContain(label);
    expect(page.headers["content-type"]).toMatch("text/html");
  });
});

describe("the operations page", () => {
  it("sends a visitor without an account to the page of the shop to sign in", async () => {
    const page = await shop.client.get("/operations/page", { headers: { accept: "text/html" } });

    expect([page.status, page.headers["content-type"]]).toEqual([401, "text/html; charset=utf-8"]);
    expect(page.text()).toContain('<a href="/">Sign in</a>');
  });
});

describe("public pages", () => {
  it("include GraphiQL, the OpenAPI document and the shop page", async () => {
    const accept = { headers: { accept: "text/html" } };

    const [explorer, docs, window] = [
      await shop.client.get("/graphql", accept),
      await shop.client.get("/docs", accept),
      await shop.client.get("/", accept),
    ];
    const { paths } = (await shop.client.get("/openapi.json")).json() as { readonly paths: object };

    expect([explorer, docs, window].map(({ status, headers }) => [status, headers["content-type"]])).toEqual([
      [200, expect.stringMatching("text/html")],
      [200, expect.stringMatching("text/html")],
      [200, expect.stringMatching("text/html")],
    ]);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["/account/login", "/authors", "/books", "/books/newest", "/books/{id}/cover", "/orders"]),
    );
  });

  it("include a health check of the servers behind it", async () => {
    expect((await shop.client.get("/readyz")).status).toBe(200);
  });
});
