import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { startApp } from "../start-app.ts";

/** An application that accepts two requests at a time, and serves two until the test ends them. */
async function busy() {
  const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  let started = 0;
  const events: string[] = [];
  const app = new PorticoApp({ logger: false, load: { maxInFlight: 2, retryAfterSeconds: 3 } })
    .get("/slow", () => {
      if (++started === 2) entered.resolve();
      return release.promise;
    })
    .get("/books/:id", ({ path }) => path.id)
    .post("/books", () => "added")
    .onRequest(({ method, route, status }) => void events.push(`${method} ${route} ${status}`));
  new Graph(schema({ query: { ok: field(t.boolean)(() => true) } })).mount(app);
  const client = testClient(app);
  const slow = [client.get("/slow"), client.get("/slow")];
  await entered.promise;
  const end = (): Promise<readonly TestResponse[]> => {
    release.resolve("done");
    return Promise.all(slow);
  };
  return { client, end, events };
}

describe("a request beyond maxInFlight that the application sends to itself", () => {
  it("is rejected with retry-after until there is room again", async () => {
    const { client, end } = await busy();

    const refused = await client.get("/books/7");
    const ready = await client.get("/readyz");
    expect((await end()).map((answer) => answer.json())).toEqual(["done", "done"]);
    const [after, readyAfter] = [await client.get("/books/7"), await client.get("/readyz")];

    expect([refused.status, refused.headers["retry-after"], refused.json()]).toEqual([
      503,
      "3",
      expect.objectContaining({ code: "overloaded", detail: "The server is overloaded" }),
    ]);
    expect([ready.status, after.status, after.json(), readyAfter.status]).toEqual([503, 200, "7", 200]);
  });

  it("is rejected in the format of its route", async () => {
    const { client, end } = await busy();

    const refused = await client.post("/graphql", { body: { query: "{ ok }" } });
    await end();

    expect([refused.status, refused.json()]).toMatchObject([503, { errors: [{ extensions: { code: "OVERLOADED" } }] }]);
  });

  it("is observed by the pattern of its route", async () => {
    const { client, end, events } = await busy();

    await client.get("/books/7");
    await client.post("/books");
    await end();

    expect(events).toEqual(["GET /books/:id 503", "POST /books 503", "GET /slow 200", "GET /slow 200"]);
  });
});

describe("a path without a route for the request", () => {
  const allowed = ({ headers }: TestResponse): readonly string[] => String(headers["allow"]).split(", ").toSorted();
  const shop = (): PorticoApp =>
    new PorticoApp({ logger: false })
      .use(async (ctx, next) => {
        if (ctx.kind === "http") ctx.response.header("x-seen", "yes");
        await next();
      })
      .get("/books", () => [])
      .post("/books", () => "added")
      .socket("/chat", () => {});

  it("is a 404 for any method, and a 405 with the methods that it has", async () => {
    const client = testClient(shop());

    const nothing = [await client.get("/films"), await client.request("OPTIONS", "/films")];
    const wrong = await client.delete("/books");

    expect(nothing.map(({ status, headers }) => [status, headers["x-seen"]])).toEqual([
      [404, "yes"],
      [404, "yes"],
    ]);
    expect([wrong.status, wrong.headers["x-seen"]]).toEqual([405, "yes"]);
    expect(allowed(wrong)).toEqual(["GET", "HEAD", "POST"]);
    expect(wrong.json()).toMatchObject({ detail: "DELETE is not allowed here", code: "method_not_allowed" });
  });

  it("responds to OPTIONS with its methods, without running middleware", async () => {
    const answer = await testClient(shop()).request("OPTIONS", "/books");

    expect([answer.status, answer.headers["x-seen"], answer.text()]).toEqual([204, undefined, ""]);
    expect(allowed(answer)).toEqual(["GET", "HEAD", "OPTIONS", "POST"]);
  });

  it("says that it requires a WebSocket connection if it has a socket", async () => {
    const client = await startApp((app) => app.socket("/chat", () => {}));

    const answer = await client.get("/chat");

    expect([answer.status, answer.headers["upgrade"], answer.json()]).toEqual([
      426,
      "websocket",
      expect.objectContaining({
        code: "upgrade_required",
        detail: "This endpoint requires a WebSocket connection",
      }),
    ]);
  });
});

describe("the limit of a body", () => {
  it("is that of the route, or else that of the application", async () => {
    const app = new PorticoApp({ logger: false, maxBody: "20b" })
      .post("/usual", ({ request }) => request.text())
      .post("/small", { maxBody: 10 }, ({ request }) => request.text());
    const client = testClient(app);
    const statuses = async (path: string, ...sizes: readonly number[]): Promise<readonly number[]> =>
      Promise.all(sizes.map(async (size) => (await client.post(path, { body: "x".repeat(size) })).status));

    expect(await statuses("/usual", 20, 21)).toEqual([200, 413]);
    expect(await statuses("/small", 10, 11)).toEqual([200, 413]);
  });
});
