import { once } from "node:events";
import { connect } from "node:net";
import { inspect } from "node:util";
import { AnonymousUser, identify, type Middleware, memoryStores, PorticoApp } from "portico";
import { AuthenticationMiddleware, SimpleUser, UserBaseModel, useAuth } from "portico/auth";
import { logCatcher } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { exchange } from "../graphql/corpus/wire.ts";
import { servers } from "./servers.ts";
import { sessionApp, signIn } from "./sessions/session-app.ts";
import { ANN, backendFor, bearing, claims, encode, forge, standing, tokenApp } from "./tokens/token-app.ts";

const serve = servers();
const valid = forge(claims);

describe("identity", () => {
  it("[REQ-05] comes from the credential, whatever a header, the query or the body contains", async () => {
    const client = await serve(tokenApp(backendFor()).app);
    const claimed = { "x-user-id": "eve", "x-forwarded-user": "eve", "x-remote-user": "eve" };
    const body = { user_id: "eve", user: { identity: "eve" }, scope: { auth: "jwt" } };
    const target = "/open?user_id=eve&user=eve&scope=jwt";

    const nobody = await client.post(target, { headers: claimed, body });
    const ann = await client.post(target, { headers: { ...claimed, ...bearing(valid).headers }, body });

    expect(nobody.json()).toEqual({ who: "", auth: null, anonymous: true });
    expect(ann.json()).toEqual({ who: "ann", auth: "jwt", anonymous: false });
  });

  it("[auth:AU-054] is not in the query or the body, and no log shows what was there", async () => {
    const made = tokenApp(backendFor());
    made.app.get("/broken", () => {
      throw new Error("on purpose");
    });
    const client = await serve(made.app);

    const query = await client.get(`/open?access_token=${valid}`);
    const body = await client.post("/open", { body: { access_token: valid, token: valid } });
    const broken = await client.get(`/broken?access_token=${valid}`);
    const missing = await client.get(`/nowhere?access_token=${valid}`);

    expect([query, body].map((answer) => answer.json())).toEqual(
      [1, 2].map(() => ({ who: "", auth: null, anonymous: true })),
    );
    expect([broken.status, missing.status]).toEqual([500, 404]);
    expect(made.log.text).toContain("on purpose");
    for (const text of [made.log.text, broken.text(), missing.text()]) expect(text).not.toContain(valid.slice(0, 60));
  });

  it("[auth:AU-056] is set by the middleware alone and cannot be overwritten", async () => {
    const attempts: string[] = [];
    const admin = new SimpleUser("admin", ["everything"]);
    const attempt = (write: () => unknown): void => {
      try {
        write();
        attempts.push("written");
      } catch (error) {
        attempts.push((error as Error).name);
      }
    };
    const earlier: Middleware = async (ctx, next) => {
      identify(ctx, { user: admin, auth: "session" });
      await next();
    };
    const app = new PorticoApp({ logger: false })
      .use(earlier)
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
      .post("/", async ({ request, user, ctx }) => {
        const merged = (await request.json()) as object;
        attempt(() => Object.assign(request, merged));
        attempt(() => Object.assign(request, { scope: { auth: "jwt" } }));
        attempt(() => Object.assign(ctx, { user: admin }));
        return [user.identity, request.user.identity, request.scope.auth, ctx.user.identity];
      })
      .post("/gated", { auth: useAuth() }, () => "in");
    const client = await serve(app);
    const body = '{"user":{"identity":"admin","isAuthenticated":true},"__proto__":{"isAuthenticated":true}}';
    const send = (target: string, headers: [string, string][] = []): ReturnType<typeof exchange> =>
      exchange(client.port, { target, headers: [["content-type", "application/json"], ...headers], body });

    expect(JSON.parse((await send("/")).text)).toEqual(["", "", null, ""]);
    expect(JSON.parse((await send("/", [["authorization", `Bearer ${valid}`]])).text)).toEqual([
      "ann",
      "ann",
      "jwt",
      "ann",
    ]);
    expect((await send("/gated")).status).toBe(401);
    expect(new Set(attempts)).toEqual(new Set(["TypeError"]));
  });

  it("[auth:AU-186] pollutes no prototype, by body, query, cookie, token or session", async () => {
    const before = Reflect.ownKeys(Object.prototype);
    const poison = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}';
    const client = await serve(tokenApp(backendFor()).app);
    const tokens = [
      forge(`{"__proto__":{"isAdmin":true},${JSON.stringify(claims).slice(1)}`),
      forge(poison),
      forge(claims, '{"__proto__":{"isAdmin":true},"alg":"HS256"}'),
    ];

    for (const token of tokens) await standing(client, `Bearer ${token}`);
    await exchange(client.port, {
      target: "/open?__proto__[isAdmin]=true&__proto__=1&constructor.prototype.isAdmin=true",
      headers: [
        ["content-type", "application/json"],
        ["cookie", `__proto__=isAdmin; constructor=x; __Host-portico_session=${encode(poison)}`],
      ],
      body: poison,
    });

    const { durable } = memoryStores();
    const sessions = await serve(sessionApp({ durable }));
    const cookie = await signIn(sessions, "ann");
    vi.spyOn(durable, "get").mockResolvedValue(
      `{"__proto__":{"isAdmin":true,"isAuthenticated":true},"user":"ann","isPending":false}`,
    );
    const poisoned = await sessions.get("/open", cookie);

    expect(poisoned.json()).toEqual({ who: "", auth: null });
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(await standing(client, `Bearer ${valid}`)).toEqual(ANN);
  });
});

describe("a gated route", () => {
  it("[auth:AU-180] returns 401 before an upload is read, and its handler never runs", async () => {
    let runs = 0;
    const app = new PorticoApp({ logger: false, maxBody: "200mb" })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
      .post("/upload", { auth: useAuth() }, async ({ request }) => {
        runs++;
        return (await request.bytes()).length;
      });
    const client = await serve(app);
    const socket = connect(client.port, "127.0.0.1").setEncoding("latin1");
    let answer = "";
    socket.on("data", (text) => {
      answer += String(text);
    });
    socket.on("error", () => {});

    // Announced, begun, and never ended: only a server that does not wait for it answers.
    socket.write(`POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${100 * 1024 ** 2}\r\n\r\n`);
    socket.write(Buffer.alloc(65_536));
    await once(socket, "data");
    socket.destroy();

    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(runs).toBe(0);
  });

  it("[auth:AU-181] is gated for HEAD, and not for a preflight", async () => {
    const app = new PorticoApp({ logger: false, origins: ["https://shop.example"] })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
      .get("/gated", { auth: useAuth() }, () => "in");
    const client = await serve(app);
    const head = (headers: [string, string][]): Promise<{ readonly status: number }> =>
      exchange(client.port, { method: "HEAD", target: "/gated", headers });

    const preflight = await exchange(client.port, {
      method: "OPTIONS",
      target: "/gated",
      headers: [
        ["origin", "https://shop.example"],
        ["access-control-request-method", "GET"],
        ["access-control-request-headers", "authorization"],
      ],
    });

    expect([(await head([])).status, (await head([["authorization", `Bearer ${valid}`]])).status]).toEqual([401, 200]);
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, "https://shop.example"]);
  });

  it("[auth:AU-182] cannot be bypassed by spelling tricks", async () => {
    let runs = 0;
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
      .get("/admin", { auth: useAuth() }, () => {
        runs++;
        return "in";
      })
      .get("/files/:name", { auth: useAuth() }, () => {
        runs++;
        return "in";
      });
    const client = await serve(app);
    const targets = [
      "/admin/",
      "//admin",
      "/admin//",
      "/ADMIN",
      "/Admin",
      "/%61dmin",
      "/admin%2f",
      "/admin%2F",
      "/admin%00",
      "/admin;a=b",
      "/./admin",
      "/x/../admin",
      "/%2e/admin",
      "/x/%2e%2e/admin",
      "/admin%20",
      "/admin?",
      "/admin#x",
      "/admin%3f",
      "/\\admin",
      "/files/%2e%2e",
      "/files/a%2fb",
      "/files//a",
      "http://x/admin",
      "/admin%252f",
      "/admin.",
      "/admin/.",
    ];

    const statuses = new Set<number>();
    for (const target of targets) statuses.add((await exchange(client.port, { method: "GET", target })).status);

    expect(runs).toBe(0);
    expect(statuses).toEqual(new Set([401, 404]));
    expect((await client.get("/admin", bearing(valid))).status).toBe(200);
    expect(runs).toBe(1);
  });

  it("[auth:AU-164] requires a JSON content type, and ignores method overrides", async () => {
    const changed: string[] = [];
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
      .post(
        "/books",
        { auth: useAuth() },
        async ({ request }) => void changed.push(JSON.stringify(await request.json())),
      )
      .get("/books", { auth: useAuth() }, () => "books")
      .delete("/books", { auth: useAuth() }, () => void changed.push("deleted"));
    const client = await serve(app);
    const signed: [string, string] = ["authorization", `Bearer ${valid}`];
    const post = async (type: string, body: string): Promise<number> =>
      (await exchange(client.port, { target: "/books", headers: [signed, ["content-type", type]], body })).status;

    expect([
      await post("text/plain", '{"a":1}'),
      await post("application/x-www-form-urlencoded", '{"a":1,"b":"=x"}'),
      await post(
        "multipart/form-data; boundary=x",
        '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
      ),
      await post("text/plain; application/json", '{"a":1}'),
    ]).toEqual([415, 415, 415, 415]);
    for (const name of ["x-http-method-override", "x-http-method", "x-method-override", "_method"]) {
      const { status } = await exchange(client.port, {
        method: "GET",
        target: "/books?_method=DELETE",
        headers: [signed, [name, "DELETE"]],
      });
      expect(status).toBe(200);
    }
    expect(changed).toEqual([]);
  });
});

it("[auth:AU-184] neither a user nor a request nor a context shows a secret", async () => {
  class Member extends UserBaseModel {
    readonly identity = "ann";
    readonly displayName = "Ann";
    readonly #passwordHash = "HASH-CANARY";
    hasHash(text: string): boolean {
      return this.#passwordHash === text;
    }
  }
  const seen: string[] = [];
  const show = (value: unknown): void => {
    seen.push(inspect(value, { depth: 20, showHidden: true }), String(value));
    seen.push(
      JSON.stringify(value) ?? "",
      JSON.stringify({ ...(value as object) }, (key, entry: unknown) => (key === "host" ? undefined : entry)) ?? "",
    );
  };
  const log = logCatcher();
  const app = new PorticoApp({ logger: log })
    .use(
      new AuthenticationMiddleware({
        userModel: { loadUser: async () => new Member() as never },
        backend: backendFor(),
      }),
    )
    .get("/", { auth: useAuth() }, ({ request, ctx, user }) => {
      for (const value of [request, user, new SimpleUser("bob"), new AnonymousUser()]) show(value);
      seen.push(inspect(ctx, { depth: 20, showHidden: true }), JSON.stringify(ctx), JSON.stringify([{ ctx }]));
      ctx.log.info({ ctx, request, user }, "a line");
      return "in";
    });
  const client = await serve(app);

  const answer = await client.get("/?key=QUERY-CANARY", {
    headers: { authorization: `Bearer ${valid}`, cookie: "a=COOKIE-CANARY" },
  });

  expect(answer.status).toBe(200);
  expect(seen.length).toBeGreaterThan(15);
  for (const text of [...seen, log.text])
    for (const secret of [valid, "HASH-CANARY", "COOKIE-CANARY", "QUERY-CANARY"]) expect(text).not.toContain(secret);
  expect(seen.join("\n")).toContain("HttpContext { kind: 'http', method: 'GET', path: '/', user: 'ann', auth: 'jwt' }");
});
