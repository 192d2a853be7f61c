import { ConfigurationError, type Origin, PorticoApp, type PorticoAppOptions } from "portico";
import { type LiveClient, liveClient, SocketRefused, testClient } from "portico/testing";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { graphWarnings } from "../../audit/graph-warnings.ts";
import { overBoth } from "../../matrix.ts";

const SHOP = "https://shop.example";
const build = (options: PorticoAppOptions = { origins: [SHOP, "http://localhost:5173"] }): PorticoApp =>
  new PorticoApp({ logger: false, ...options })
    .get("/books", () => [])
    .post("/books", () => 1)
    .get("/varied", ({ response }) => response.header("vary", "Accept").json([]))
    .get("/broken", () => {
      throw new Error("no");
    })
    .socket("/chat", ({ socket }) => socket.send("hello"));

describe("a response", () => {
  overBoth("may be read by a listed origin, with its cookies", build, async (client) => {
    const answers = [
      await client.get("/books", { headers: { origin: SHOP } }),
      await client.post("/books", { headers: { origin: "http://localhost:5173" } }),
    ];

    expect(answers.map(({ headers }) => headers["access-control-allow-origin"])).toEqual([
      SHOP,
      "http://localhost:5173",
    ]);
    for (const { headers } of answers)
      expect(headers).toMatchObject({ "access-control-allow-credentials": "true", vary: "Origin" });
  });

  overBoth("may be read by a listed origin when it is an error, too", build, async (client) => {
    const answers = [
      await client.get("/nothing", { headers: { origin: SHOP } }),
      await client.request("PUT", "/books", { headers: { origin: SHOP } }),
      await client.get("/broken", { headers: { origin: SHOP } }),
    ];

    expect(answers.map(({ status, headers }) => [status, headers["access-control-allow-origin"]])).toEqual([
      [404, SHOP],
      [405, SHOP],
      [500, SHOP],
    ]);
  });

  const foreign = [
    "https://evil.example",
    "http://shop.example",
    "https://shop.example:8443",
    "https://shop.example.evil.example",
    "https://evil-shop.example",
    "https://SHOP.example",
    "null",
    "*",
  ];
  it.each(foreign)("is given to the foreign origin %s without a word of CORS", async (origin) => {
    const answer = await testClient(build()).get("/books", { headers: { origin } });

    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(answer.headers["vary"]).toBe("Origin");
  });

  overBoth("adds Origin to Vary for every cache, and keeps its other entries", build, async (client) => {
    const answers = [await client.get("/books"), await client.get("/varied", { headers: { origin: SHOP } })];

    expect(answers.map(({ headers }) => headers["vary"])).toEqual(["Origin", "Accept, Origin"]);
    expect(answers[0]?.headers["access-control-allow-origin"]).toBe(undefined);
  });

  it("says nothing of origins when none is listed", async () => {
    const answer = await testClient(build({})).get("/books", { headers: { origin: SHOP } });

    expect(answer.headers["vary"]).toBe(undefined);
    expect(answer.headers["access-control-allow-origin"]).toBe(undefined);
  });
});

describe("a preflight", () => {
  const ask = (origin: string) => ({
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, x-shelf",
    },
  });

  overBoth("of a listed origin receives methods and headers", build, async (client) => {
    const answer = await client.request("OPTIONS", "/books", ask(SHOP));

    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": SHOP,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, POST, HEAD",
      "access-control-allow-headers": "content-type, x-shelf",
      "access-control-max-age": "600",
      vary: "Origin",
    });
  });

  overBoth("of a foreign origin receives nothing", build, async (client) => {
    const answer = await client.request("OPTIONS", "/books", ask("https://evil.example"));

    expect(answer.status).toBe(204);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("of a path that is not there is 404", async () => {
    expect((await testClient(build()).request("OPTIONS", "/nothing", ask(SHOP))).status).toBe(404);
  });
});

describe("a socket", () => {
  let client: LiveClient | undefined;
  afterEach(async () => {
    await client?.close();
    client = undefined;
  });
  async function open(headers: Record<string, string>, options?: PorticoAppOptions): Promise<string | SocketRefused> {
    client = await liveClient(build(options));
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("{port}", String(client?.port))]),
    );
    return client.socket("/chat", { headers: own }).then(
      (socket) => socket.next(),
      (error: unknown) => error as SocketRefused,
    );
  }

  it.each([
    ["a listed origin", { origin: SHOP }],
    ["no browser, which says no origin", {}],
    ["its own origin", { origin: "http://127.0.0.1:{port}" }],
    ["its own origin by another host name", { origin: "http://here.example", host: "here.example" }],
    ["a page that the browser calls the same origin", { "sec-fetch-site": "same-origin" }],
  ])("is opened by %s", async (_who, headers) => {
    expect(await open(headers as Record<string, string>)).toBe("hello");
  });

  it.each([
    ["a foreign origin", { origin: "https://evil.example" }],
    ["an origin that is hidden", { origin: "null" }],
    ["its own host over another protocol", { origin: "https://127.0.0.1:{port}" }],
    ["another port of its own host", { origin: "http://127.0.0.1:1" }],
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
  ])("is rejected for %s with 403 before the upgrade", async (_who, headers) => {
    const refused = await open(headers);

    expect(refused).toBeInstanceOf(SocketRefused);
    const { response } = refused as SocketRefused;
    expect([response.status, response.json()]).toEqual([403, expect.objectContaining({ code: "origin_refused" })]);
  });

  it("takes the origin of publicUrl for its own, and no other", async () => {
    const options = { publicUrl: "https://public.example/api" };

    expect(await open({ origin: "https://public.example" }, options)).toBe("hello");
    await client?.close();
    expect(await open({ origin: "http://127.0.0.1:{port}" }, options)).toBeInstanceOf(SocketRefused);
  });
});

it.each([
  "*",
  "https://*.example",
  "shop.example",
  "https://shop.example/",
  "https://shop.example/a",
  "https://SHOP.example",
  "https://shop.example:443",
  "ftp://shop.example",
  "null",
  "",
])("the origin %j is rejected when the app is created", (origin) => {
  const act = (): unknown => new PorticoApp({ origins: [origin as Origin] });

  expect(act).toThrow(ConfigurationError);
  expect(act).toThrow('PorticoApp.origins must be origins such as "https://shop.example"');
});

describe("publicRead", () => {
  const open = (): PorticoApp => build({ publicRead: true, origins: [SHOP] });
  const EVIL = "https://evil.example";

  overBoth("lets every origin read responses, never with cookies", open, async (client) => {
    const foreign = [
      await client.get("/books", { headers: { origin: EVIL } }),
      await client.get("/nothing", { headers: { origin: EVIL } }),
      await client.get("/broken", { headers: { origin: EVIL } }),
    ];
    const listed = await client.get("/books", { headers: { origin: SHOP } });

    expect(foreign.map(({ headers }) => headers["access-control-allow-origin"])).toEqual(["*", "*", "*"]);
    expect(foreign.map(({ headers }) => headers["access-control-allow-credentials"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(listed.headers).toMatchObject({
      "access-control-allow-origin": SHOP,
      "access-control-allow-credentials": "true",
      vary: "Origin",
    });
  });

  overBoth("names the requested headers in a preflight", open, async (client) => {
    const answer = await client.request("OPTIONS", "/books", {
      headers: {
        origin: EVIL,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });

    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "authorization, content-type",
    });
    expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
  });

  it("leaves other origins foreign for sockets, and the access report names it", async () => {
    const client = await liveClient(open());
    onTestFinished(() => client.close());

    await expect(client.socket("/chat", { headers: { origin: EVIL } })).rejects.toThrow(SocketRefused);
    expect(await graphWarnings(open())).toContain(
      "PorticoApp.publicRead lets the pages of every origin read responses without cookies",
    );
    expect(await graphWarnings(build())).toEqual([]);
  });
});
