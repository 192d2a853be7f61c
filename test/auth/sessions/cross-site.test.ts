import { PorticoApp } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser, useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import {
  type LiveClient,
  liveClient,
  logCatcher,
  type SocketRefused,
  type TestResponse,
  testClient,
} from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RecordingStore } from "./recording-store.ts";
import { COOKIE, cookieOf, SECRET, sessionApp, signIn } from "./session-app.ts";

let store: RecordingStore;
let client: LiveClient;
let cookie: string;

beforeEach(async () => {
  store = new RecordingStore();
  client = await liveClient(sessionApp({ durable: store, origins: ["https://shop.example"] }));
  cookie = (await signIn(client, "ann")).headers.cookie;
});
afterEach(() => client.close());

const foreign: readonly (readonly [string, Record<string, string>])[] = [
  ["an origin that does not match", { origin: "https://evil.example" }],
  ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
  ["Origin: null", { origin: "null" }],
  ["a sub-domain of the same site", { origin: "https://evil.shop.example", "sec-fetch-site": "same-site" }],
];

describe("a request that changes state", () => {
  it.each(foreign)(
    "[BCK-40] [auth:AU-161] [auth:AU-162] [auth:AU-163] has no credential in its cookie: %s",
    async (_, headers) => {
      store.take();
      const gated = await client.post("/act", { headers: { cookie, ...headers } });
      const open = await client.post("/open", { headers: { cookie, ...headers } });

      expect([gated.status, gated.json()]).toMatchObject([403, { code: "cross_site_refused" }]);
      expect(gated.headers["cache-control"]).toBe("no-store");
      expect([open.status, open.json(), open.cookies]).toEqual([200, { who: "", auth: null }, []]);
      expect(store.take()).toEqual([]);
    },
  );

  it.each(foreign)(
    "[BCK-40] [auth:AU-161] is valid with another credential, and a GET with its cookie: %s",
    async (_, headers) => {
      const byHeader = await client.post("/act", { headers: { cookie, ...headers, "x-apikey": "bob" } });
      const read = await client.get("/me", { headers: { cookie, ...headers } });

      expect(byHeader.json()).toEqual({ who: "bob", auth: "apikey" });
      expect(read.json()).toEqual({ who: "ann", auth: "session" });
    },
  );

  it.each([
    ["neither header, as no browser sends", {}],
    ["the same origin", { "sec-fetch-site": "same-origin" }],
    ["a listed origin", { origin: "https://shop.example", "sec-fetch-site": "cross-site" }],
  ])("[auth:AU-162] [auth:AU-163] counts by its cookie: %s", async (_, headers: Record<string, string>) => {
    const answer = await client.post("/act", { headers: { cookie, ...headers } });

    expect(answer.json()).toEqual({ who: "ann", auth: "session" });
  });

  it("without a good cookie is 401, not 403", async () => {
    const [name, headers] = foreign[0] as (typeof foreign)[number];
    const none = await client.post("/act", { headers });
    const bad = await client.post("/act", { headers: { ...headers, cookie: `${COOKIE}=${name}` } });

    expect([none.status, bad.status]).toEqual([401, 401]);
  });

  it("[auth:AU-121] does not sign in or out for a page of another origin", async () => {
    const [, headers] = foreign[0] as (typeof foreign)[number];

    const login = await client.post("/login/mallory", { headers });
    const logout = await client.post("/logout", { headers: { ...headers, cookie } });
    const revoke = await client.post("/revoke-all", { headers: { ...headers, cookie } });

    expect([login.status, login.cookies, logout.cookies, revoke.json()]).toEqual([403, [], [], 0]);
    expect((await client.get("/me", { headers: { cookie } })).status).toBe(200);
  });
});

describe("a socket", () => {
  it("[auth:AU-168] signs in by the cookie at the upgrade, and not from a foreign origin", async () => {
    const socket = await client.socket("/socket", { headers: { cookie } });
    const refusals = await Promise.all(
      [{ cookie, origin: "https://evil.example" }, { cookie: `${cookie}x` }, {}].map((headers) =>
        client.socket("/socket", { headers }).then(
          () => null,
          (error: unknown) => (error as SocketRefused).response,
        ),
      ),
    );

    expect(await socket.next()).toBe("ann");
    expect(refusals.map((answer) => [answer?.status, answer?.cookies])).toEqual([
      [403, []],
      [401, []],
      [401, []],
    ]);
  });

  it("lists and revokes like a request, and cannot sign in", async () => {
    const app = guarded().socket("/", async ({ socket, request }) => {
      const listed = await request.sessions.list();
      const failure = await request.sessions.login(new SimpleUser("ann")).catch((error: Error) => error.message);
      socket.send(JSON.stringify({ listed: listed.length, failure }));
    });
    app.post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")));
    const over = await liveClient(app);
    const signedIn = cookieOf(await over.post("/login")) ?? "";

    const socket = await over.socket("/", { headers: { cookie: signedIn } });

    expect(JSON.parse(await socket.next())).toEqual({
      listed: 2,
      failure: "sessions.login cannot be called on a WebSocket: the session cookie needs an HTTP response",
    });
    await over.close();
  });
});

describe("while the store is down", () => {
  const down = (): never => {
    throw new Error("the store is down");
  };

  it("[ATH-17] [ATH-18] [auth:AU-083] a gate returns 503 with a cookie, 401 without one, and runs if it is not required", async () => {
    store.before = down;
    const answers = await Promise.all(
      ["/me", "/either", "/open"].map((path) => client.get(path, { headers: { cookie } })),
    );
    const nobody = await client.get("/me");
    const socket = await client
      .socket("/socket", { headers: { cookie } })
      .catch((error: SocketRefused) => error.response);
    const altered = await client.get("/me", { headers: { cookie: `${cookie}x` } });
    const login = await client.post("/login/ann");
    const logout = await client.post("/logout", { headers: { cookie } });
    store.before = () => {};

    expect(answers.map(({ status }) => status)).toEqual([503, 200, 200]);
    expect(answers[0]?.headers["retry-after"]).toMatch(/^\d+$/);
    expect(answers.every(({ cookies }) => cookies.length === 0)).toBe(true);
    expect([nobody.status, altered.status, (socket as TestResponse).status]).toEqual([401, 401, 503]);
    expect([login.status, login.cookies, logout.status, logout.cookies]).toEqual([503, [], 503, []]);
    expect((await client.get("/me", { headers: { cookie } })).status).toBe(200);
  });

  it("[GAT-04] [auth:AU-083] [BCK-40] a gated field says SERVICE_UNAVAILABLE, and CROSS_SITE_REFUSED to a foreign page", async () => {
    const app = guarded();
    app.post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")));
    const query = { open: field(t.boolean)(() => true), me: field(t.nullable(t.string), { auth: true })(() => "me") };
    new Graph(schema({ query })).mount(app);
    const over = await liveClient(app);
    const signedIn = cookieOf(await over.post("/login")) ?? "";
    const ask = async (headers: Record<string, string> = {}): Promise<unknown> =>
      (
        await over.post("/graphql", { body: { query: "{ open me }" }, headers: { cookie: signedIn, ...headers } })
      ).json();

    expect(await ask()).toMatchObject({ data: { open: true, me: "me" } });
    expect(await ask({ origin: "https://evil.example" })).toMatchObject({
      data: { open: true, me: null },
      errors: [{ extensions: { code: "CROSS_SITE_REFUSED" } }],
    });
    store.before = down;
    expect(await ask()).toMatchObject({
      data: { open: true, me: null },
      errors: [{ extensions: { code: "SERVICE_UNAVAILABLE" } }],
    });
    await over.close();
  });
});

it("says in the log what is missing when no SessionMiddleware runs before", async () => {
  const logger = logCatcher();
  const app = new PorticoApp({ logger });
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.get("/me", { auth: useAuth() }, () => "me");
  app.get("/sessions", ({ request }) => request.sessions.list());
  const over = testClient(app);

  const answers = [await over.get("/me"), await over.get("/me", { headers: { cookie } }), await over.get("/sessions")];

  expect(answers.map(({ status }) => status)).toEqual([401, 503, 500]);
  expect(logger.text).toContain("add SessionMiddleware before AuthenticationMiddleware");
});

it("rejects anonymous users and unknown options on login", async () => {
  const app = guarded();
  const said: unknown[] = [];
  app.post("/", async ({ request }) => {
    const failures = await Promise.all(
      [
        request.sessions.login(request.user),
        request.sessions.login(new SimpleUser("")),
        request.sessions.login(new SimpleUser("ann"), { remembr: true } as object),
      ].map((login) => login.catch((error: Error) => error.message)),
    );
    said.push(...failures);
  });

  const answer = await testClient(app).post("/");

  expect(said).toEqual([
    "sessions.login requires a signed-in user with an identity",
    "sessions.login requires a signed-in user with an identity",
    'sessions.login: unknown option "remembr". Did you mean "remember"?',
  ]);
  expect([answer.status, answer.cookies]).toEqual([204, []]);
});

function guarded(): PorticoApp {
  return new PorticoApp({ logger: false })
    .use(new SessionMiddleware({ secret: SECRET, store }))
    .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
}
