import { once } from "node:events";
import { createServer, type IncomingMessage, request as nodeRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Request, type Response } from "express";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { type HttpContext, HttpException, memoryStores, PorticoApp, rateLimit, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { by, keyApp, make } from "./api-keys/key-app.ts";
import { RecordingStore } from "./sessions/recording-store.ts";
import { COOKIE, SECRET, sessionApp, signIn } from "./sessions/session-app.ts";

/** Identifies the caller of one request, with the options of `app.identify`. */
type Ask = (options?: { readonly auth: unknown }) => Promise<HttpContext>;
/** A route of the host: its return value is sent as JSON. */
type HostRoute = (ask: Ask, setHeader: (name: string, value: string) => void) => unknown;

interface HostOptions {
  readonly trustsProxy?: boolean;
}
type StartHost = (app: PorticoApp, routes: Record<string, HostRoute>, options?: HostOptions) => Promise<string>;

const startFastify: StartHost = async (app, routes, { trustsProxy = false } = {}) => {
  const fastify = Fastify({ trustProxy: trustsProxy });
  await fastify.register(app.plugin(), { prefix: "/api" });
  for (const [url, route] of Object.entries(routes))
    fastify.route({
      method: ["GET", "POST"],
      url,
      handler: async (request: FastifyRequest<{ Body: { a: 1 } }>, reply: FastifyReply) =>
        route(
          (options) => app.identify(request, reply, options as { auth?: boolean }),
          (name, value) => void reply.header(name, value),
        ),
    });
  onTestFinished(() => fastify.close());
  return fastify.listen({ port: 0, host: "127.0.0.1" });
};

const startExpress: StartHost = async (app, routes) => {
  const host = express();
  for (const [url, route] of Object.entries(routes))
    host.all(url, async (request: Request, response: Response) => {
      response.send(
        await route(
          (options) => app.identify(request, response, options as { auth?: boolean }),
          (name, value) => void response.appendHeader(name, value),
        ),
      );
    });
  host.use("/api", app.handler);
  return listen(app, host);
};

async function listen(
  app: PorticoApp,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await app.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const who: HostRoute = async (ask) => whoIn(await ask({ auth: true }));
const open: HostRoute = async (ask) => whoIn(await ask());
const whoIn = ({ user, scope }: HttpContext): object => ({ who: user.identity, auth: scope.auth });

describe.each([
  ["Fastify", startFastify],
  ["Express", startExpress],
] as const)("app.identify in a route of %s", (name, start) => {
  it("returns the user and the session of Portico's routes, until the session is revoked", async () => {
    const app = sessionApp();
    const url = await start(app, { "/who": who });
    const signedIn = await fetch(`${url}/api/login/ann`, { method: "POST" });
    const headers = { cookie: signedIn.headers.getSetCookie()[0]?.split(";")[0] as string };

    const [own, portico] = [await fetch(`${url}/who`, { headers }), await fetch(`${url}/api/me`, { headers })];
    await fetch(`${url}/api/logout`, { method: "POST", headers });
    const after = await fetch(`${url}/who`, { headers });

    expect([await own.json(), await portico.json()]).toEqual([
      { who: "ann", auth: "session" },
      { who: "ann", auth: "session" },
    ]);
    expect(own.headers.get("vary")).toBe("Cookie");
    expect(after.status).toBe(401);
    expect(after.headers.getSetCookie()).toEqual([expect.stringMatching(`^${COOKIE}=; Max-Age=0`)]);
    expect(after.headers.get("cache-control")).toBe("private, no-store");
  });

  it("accepts an anonymous caller without auth, and rejects it with 401 and the challenge with auth", async () => {
    const url = await start(keyApp(), { "/open": open, "/who": who });

    const [free, gated] = [await fetch(`${url}/open`), await fetch(`${url}/who`)];

    expect([free.status, await free.json()]).toEqual([200, { who: "", auth: null }]);
    expect([gated.status, gated.headers.get("www-authenticate")]).toEqual([401, 'SESSION realm="test"']);
  });

  it("rejects with 503 while the credential cannot be verified, unless the gate accepts anonymous callers", async () => {
    const store = new RecordingStore();
    const app = sessionApp({ durable: store });
    const url = await start(app, {
      "/open": open,
      "/who": who,
      "/either": async (ask) => whoIn(await ask({ auth: useAuth({ required: false }) })),
    });
    const { headers } = await signIn(testClient(app), "ann");
    store.before = () => {
      throw new Error("the store is down");
    };

    const answers = await Promise.all(["/open", "/who", "/either"].map((path) => fetch(url + path, { headers })));
    const anonymous = await fetch(`${url}/open`);

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(answers[0]?.headers.get("retry-after")).toBe("5");
    expect(await answers[2]?.json()).toEqual({ who: "", auth: null });
    expect(anonymous.status).toBe(200);
  });

  it("ignores the cookie of an unsafe request from another origin, and says so with 403", async () => {
    const app = sessionApp();
    const url = await start(app, { "/who": who, "/open": open });
    const { headers } = await signIn(testClient(app), "ann");
    const foreign = { method: "POST", headers: { ...headers, origin: "https://evil.example" } };
    const own = { method: "POST", headers: { ...headers, origin: url } };

    const answers = [await fetch(`${url}/who`, foreign), await fetch(`${url}/open`, foreign)];
    const allowed = await fetch(`${url}/who`, own);

    expect(answers.map(({ status }) => status)).toEqual([403, 200]);
    expect(await answers[1]?.json()).toEqual({ who: "", auth: null });
    expect(await allowed.json()).toEqual({ who: "ann", auth: "session" });
  });

  it("uses an API key once for each request, however often it is identified, and shares its limit", async () => {
    const app = keyApp();
    const twice: HostRoute = async (ask) => {
      const [one, two] = [await ask(), await ask({ auth: useAuth({ scopes: ["apikey"] }) })];
      return { isSame: one === two };
    };
    const url = await start(app, { "/twice": twice });
    const { key } = await make(testClient(app), { perMinute: 3 });

    const answers = [];
    for (const path of ["/twice", "/api/me", "/twice", "/twice"]) answers.push(await fetch(url + path, by(key)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(await answers[0]?.json()).toEqual({ isSame: true });
    expect(answers[3]?.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  it("checks permissions, gate functions and rules", async () => {
    const app = keyApp();
    const url = await start(app, {
      "/write": async (ask) => whoIn(await ask({ auth: useAuth({ permissions: ["write:books"] }) })),
      "/named": async (ask) => whoIn(await ask({ auth: (user: SimpleUser) => user.identity === "bob" })),
      "/note": async (ask) => (await ask({ auth: true })).authorize(ownNotes, { id: "1", owner: "bob" }),
    });
    const { key } = await make(testClient(app), { permissions: ["read:books"] });
    const by = (who: string): RequestInit => ({ headers: { "x-session": who } });

    const statusOf = async (path: string, init: RequestInit): Promise<number> => (await fetch(url + path, init)).status;

    expect(await statusOf("/write", by("ann"))).toBe(200);
    expect(await statusOf("/write", { headers: { "x-api-key": key } })).toBe(403);
    expect([await statusOf("/named", by("ann")), await statusOf("/named", by("bob"))]).toEqual([403, 200]);
    expect([await statusOf("/note", by("ann")), await statusOf("/note", by("bob"))]).toEqual([404, 200]);
  });

  it("adds cookies to those of the host, also for a sign-in in the host's route", async () => {
    const app = sessionApp();
    const url = await start(app, {
      "/who": who,
      "/in": async (ask, setHeader) => {
        setHeader("set-cookie", "host=1");
        setHeader("cache-control", "public, max-age=60");
        setHeader("vary", "Accept");
        const { request } = await ask();
        await request.sessions.login(new SimpleUser("ann"));
        return {};
      },
    });

    const signedIn = await fetch(`${url}/in`, { method: "POST" });
    const [host, session] = signedIn.headers.getSetCookie();
    const own = await fetch(`${url}/who`, { headers: { cookie: session?.split(";")[0] as string } });

    expect([host, session]).toEqual(["host=1", expect.stringMatching(`^${COOKIE}=`)]);
    expect(signedIn.headers.get("cache-control")).toBe("private, no-store");
    expect(signedIn.headers.get("vary")).toBe("Accept, Cookie");
    expect(await own.json()).toEqual({ who: "ann", auth: "session" });
  });

  it("leaves the headers of the host alone if the middleware sets no cookie", async () => {
    const app = sessionApp();
    const url = await start(app, {
      "/open": async (ask, setHeader) => {
        setHeader("cache-control", "private, max-age=60");
        return whoIn(await ask());
      },
    });

    const answer = await fetch(`${url}/open`);

    expect(answer.headers.get("cache-control")).toBe("private, max-age=60");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it("signs the cookie of an older secret again", async () => {
    const stores = { durable: new RecordingStore() };
    const older = "an older secret of the tests, long enough";
    const { headers } = await signIn(testClient(sessionApp({ ...stores, secret: older })), "ann");
    const url = await start(sessionApp({ ...stores, secret: [SECRET, older] }), { "/who": who });

    const answer = await fetch(`${url}/who`, { headers });
    const renewed = answer.headers.getSetCookie()[0]?.split(";")[0] as string;

    expect(await answer.json()).toEqual({ who: "ann", auth: "session" });
    expect(renewed).toMatch(`${COOKIE}=`);
    expect(renewed).not.toBe(headers.cookie);
  });

  it("applies rate limits of the application, and believes the same proxies as its routes", async () => {
    // In Fastify the proxies of the host decide, also for Portico's routes.
    const trustedProxies = name === "Express" ? ["loopback"] : [];
    const app = new PorticoApp({ logger: false, stores: memoryStores(), trustedProxies });
    app.use(rateLimit({ perMinute: 2 }));
    app.get("/ip", ({ request }) => request.ip);
    const url = await start(app, { "/ip": async (ask) => ({ ip: (await ask()).request.ip }) }, { trustsProxy: true });
    const from = (ip: string): RequestInit => ({ headers: { "x-forwarded-for": ip } });

    const answers = [];
    for (const path of ["/ip", "/api/ip", "/ip"]) answers.push(await fetch(url + path, from("203.0.113.7")));
    const other = await fetch(`${url}/ip`, from("203.0.113.8"));

    expect(await answers[0]?.json()).toEqual({ ip: "203.0.113.7" });
    expect([...answers, other].map(({ status }) => status)).toEqual([200, 200, 429, 200]);
  });

  it("rejects if a middleware responds itself or throws, so that the host's handler does not run", async () => {
    const ran: string[] = [];
    const app = new PorticoApp({ logger: false });
    app.use(async (ctx, next) => {
      const mode = ctx.request.headers["x-mode"];
      if (mode === "throws") throw new HttpException(402, "Pay first");
      if (mode === "redirects" && ctx.kind === "http") return void ctx.response.redirect("/elsewhere");
      if (mode === "rejects" && ctx.kind === "http") return void ctx.response.status(410).json({});
      if (mode !== "silent") await next();
    });
    const url = await start(app, {
      "/run": async (ask) => {
        await ask();
        ran.push("run");
        return {};
      },
    });
    const run = async (mode: string): Promise<number> =>
      (await fetch(`${url}/run`, { headers: { "x-mode": mode }, redirect: "manual" })).status;

    expect([await run("throws"), await run("redirects"), await run("rejects"), await run("silent")]).toEqual([
      402, 500, 410, 500,
    ]);
    expect([await run("usual"), ran]).toEqual([200, ["run"]]);
  });

  it("rejects a Host header that is not a host name", async () => {
    const url = await start(sessionApp(), { "/open": open });
    const request = nodeRequest(`${url}/open`, { headers: { host: "evil.example/path" } }).end();

    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.resume();

    expect(answer.statusCode).toBe(400);
  });

  it("runs the start hooks once, before the first caller is identified", async () => {
    const steps: string[] = [];
    const app = sessionApp().onStart(() => void steps.push("start"));
    const url = await start(app, {
      "/open": async (ask) => {
        await ask();
        steps.push("identified");
        return {};
      },
    });

    await fetch(`${url}/open`);
    await fetch(`${url}/api/open`);

    expect([name, steps]).toEqual([name, ["start", "identified"]]);
  });
});

it("identifies callers in a plain Node server, whichever form its headers have", async () => {
  const app = sessionApp();
  const forms = {
    "/object": { "Set-Cookie": ["a=1", "b=2"], vary: "Accept" },
    "/list": ["Set-Cookie", "a=1", "set-cookie", "b=2", "vary", "Accept"],
    "/pairs": [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["vary", "Accept"],
    ],
  };
  const url = await listen(app, (request, response) => {
    void app.identify(request, response).then(({ user }) => {
      const form = forms[request.url as keyof typeof forms] as string[];
      response.writeHead(201, "Made", form).end(user.identity);
    });
  });
  const forged = { headers: { cookie: `${COOKIE}=forged` } };

  for (const path of Object.keys(forms)) {
    const answer = await fetch(url + path, forged);

    expect([path, answer.status, answer.statusText, await answer.text()]).toEqual([path, 201, "Made", ""]);
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2", expect.stringMatching(`^${COOKIE}=; Max-Age=0`)]);
    expect(answer.headers.get("vary")).toBe("Accept, Cookie");
  }
});

it("sends the session cookie once if the request then goes to a route of Portico", async () => {
  const app = sessionApp();
  const url = await listen(app, (request, response) => {
    void app.identify(request, response).then(() => app.handler(request, response));
  });

  const answer = await fetch(`${url}/open`, { headers: { cookie: `${COOKIE}=forged` } });

  expect(answer.headers.getSetCookie()).toHaveLength(1);
});

it("rejects an option that it does not know, and a rule about objects", async () => {
  const log = logCatcher();
  const app = sessionApp({ logger: log });
  const url = await listen(app, (request, response) => {
    const options = (request.url === "/typo" ? { atuh: true } : { auth: ownNotes }) as never;
    app.identify(request, response, options).catch((error: Error) => response.end(error.message));
  });

  expect(await (await fetch(`${url}/typo`)).text()).toContain('unknown option "atuh"');
  expect(await (await fetch(`${url}/rule`)).text()).toContain("identify.auth is the rule note.own");
});

const ownNotes = rule<{ id: string; owner: string }>({
  name: "note.own",
  allows: (user, note) => note.owner === user.identity,
});
