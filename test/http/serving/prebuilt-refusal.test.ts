import { buildSchema } from "graphql";
import { PorticoApp, type PorticoAppOptions, type RequestEvent, ServiceUnavailable } from "portico";
import { Graph } from "portico/graphql";
import { type LiveClient, liveClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";

const ORIGINS = ["https://a.example", "https://b.example"] as const;
const isListed = (origin: string | undefined): boolean => (ORIGINS as readonly unknown[]).includes(origin);

/** An application whose only place is taken, so that it rejects every request. */
async function full(declare: (app: PorticoApp) => unknown = () => {}, options: PorticoAppOptions = {}) {
  const release = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const app = new PorticoApp({
    logger: false,
    origins: ORIGINS,
    load: { maxInFlight: 1, retryAfterSeconds: 7 },
    ...options,
  }).get("/slow", () => {
    entered.resolve();
    return release.promise;
  });
  app.get("/books/:id", () => "book");
  new Graph(buildSchema("type Query { hello: String }")).mount(app);
  declare(app);
  const client = await liveClient(app);
  const slow = client.get("/slow");
  await entered.promise;
  onTestFinished(async () => {
    release.resolve();
    await slow;
    await client.close();
  });
  return client;
}

const rejected = async (client: LiveClient, path: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await client.get(path, { headers });
  const { vary, "retry-after": wait, "content-type": type } = response.headers;
  return {
    status: response.status,
    body: response.json(),
    type,
    wait,
    vary,
    origin: response.headers["access-control-allow-origin"],
  };
};

it("sends each rejected request its own CORS headers, and Retry-After", async () => {
  const client = await full();
  const problem = {
    status: 503,
    type: "application/problem+json; charset=utf-8",
    wait: "7",
    vary: "Origin",
    body: {
      type: "about:blank",
      title: "Service Unavailable",
      status: 503,
      detail: "The server is overloaded",
      code: "overloaded",
    },
  };

  for (const origin of [...ORIGINS, undefined, "https://c.example", ORIGINS[0]])
    expect(await rejected(client, "/books/1", origin === undefined ? {} : { origin })).toEqual({
      ...problem,
      origin: isListed(origin) ? origin : undefined,
    });
});

it("sends a rejected GraphQL request the media type that it accepts, and a correlation id of its own", async () => {
  const client = await full();
  const types = ["application/json", "application/graphql-response+json"];

  const ids = new Set<unknown>();

  for (const accept of [...types, ...types]) {
    const { status, type, wait, body } = await rejected(client, "/graphql?query={hello}", { accept });
    expect([status, type, wait]).toEqual([503, expect.stringContaining(accept), "7"]);
    expect(body).toMatchObject({ errors: [{ extensions: { code: "OVERLOADED", retryAfter: 7 } }] });
    ids.add((body as { errors: [{ extensions: { correlationId: string } }] }).errors[0].extensions.correlationId);
  }
  expect(ids.size).toBe(4);
});

it("passes each rejected request to the request hooks", async () => {
  const events: RequestEvent[] = [];
  const client = await full((app) => app.onRequest((event) => void events.push(event)));
  await client.get("/books/1");
  await client.get("/books/2");

  expect(events.map(({ kind, method, route, status }) => [kind, method, route, status])).toEqual([
    ["response", "GET", "/books/:id", 503],
    ["response", "GET", "/books/:id", 503],
  ]);
});

it("calls an exception handler for each rejected request", async () => {
  const client = await full((app) =>
    app.addExceptionHandler(ServiceUnavailable, (request, response) => response.status(503).json(request.params)),
  );

  expect((await client.get("/books/1")).json()).toEqual({ id: "1" });
  expect((await client.get("/books/2")).json()).toEqual({ id: "2" });
});
