import { randomBytes } from "node:crypto";
import { type Credential, Depend, identify, PorticoApp, provide } from "portico";
import { SessionMiddleware, SimpleUser, TokenForUser } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

describe("the links of two pages in one response", () => {
  it("are in one Link header, after one that the handler has set", async () => {
    const books = Array.from({ length: 50 }, (_, index) => ({ id: index }));
    const app = quiet().get("/books", async ({ response }) => {
      response.header("link", '</style.css>; rel="preload"');
      const [first, second] = [await response.page(books), await response.page(books)];
      return response.json([first.items.length, second.items.length]);
    });

    const { headers } = await testClient(app).get("/books");
    const links = String(headers["link"]).split(", ");

    expect(links[0]).toBe('</style.css>; rel="preload"');
    expect(links.filter((link) => link.includes('rel="next"'))).toHaveLength(2);
  });
});

describe("a redirect to a location with control characters", () => {
  it.each(["/a\r\nset-cookie: b=c", "/a\u0000", "/\u007f", "\t/a"])("is 400: %j", async (location) => {
    const answer = await testClient(quiet().get("/", ({ response }) => response.redirect(location))).get("/");

    expect([answer.status, answer.json()]).toEqual([
      400,
      expect.objectContaining({ detail: "The redirect location contains control characters" }),
    ]);
  });
});

describe("the id of a request in the log", () => {
  /** The ids in the two log lines of one request. */
  async function idsOf(headers: Record<string, string>): Promise<unknown[]> {
    const log = logCatcher();
    const broken = provide(async function* () {
      try {
        yield "open";
      } finally {
        await Promise.reject(new Error("it does not close"));
      }
    });
    const app = new PorticoApp({ logger: log }).get("/", { params: { broken: Depend(broken) } }, () => {
      throw new Error("no");
    });
    await testClient(app).get("/", { headers });
    return log.lines.filter(({ level }) => level === "error").map((line) => line["request_id"]);
  }
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it("is x-request-id, otherwise traceparent, and missing without both", async () => {
    const id = `${"a".repeat(121)}.:/+=@-`;

    expect(new Set(await idsOf({ "x-request-id": id, traceparent }))).toEqual(new Set([id]));
    expect(new Set(await idsOf({ traceparent }))).toEqual(new Set([traceparent]));
    expect(new Set(await idsOf({ "x-request-id": "two words", traceparent }))).toEqual(new Set([traceparent]));
    expect(new Set(await idsOf({}))).toEqual(new Set([undefined]));
  });

  it.each(["two words", "a".repeat(129), "line\tbreak", "a;b", ""])(
    "is a new one, the same in all lines, instead of %j",
    async (id) => {
      const ids = await idsOf({ "x-request-id": id });

      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^[\w-]{16}$/);
      expect(await idsOf({ "x-request-id": id })).not.toContain(ids[0]);
    },
  );
});

describe("addExceptionHandler", () => {
  it.each([undefined, null, "Error", {}, { prototype: new Error("no") }, Map, () => {}])(
    "requires an error class: %s",
    (type) => {
      expect(() => quiet().addExceptionHandler(type as never, () => {})).toThrow(
        "addExceptionHandler must be given an error class",
      );
    },
  );

  it("requires a function", () => {
    expect(() => quiet().addExceptionHandler(RangeError, "no" as never)).toThrow(
      "addExceptionHandler must be given a function (request, response, exc)",
    );
  });
});

describe("request.sessions", () => {
  it("says which middleware is missing", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/", ({ request }) => request.sessions.list());

    expect((await testClient(app).get("/")).status).toBe(500);
    expect(log.lines.at(-1)?.msg).toBe(
      "request.sessions is not available: add SessionMiddleware before AuthenticationMiddleware",
    );
  });
});

describe("a token", () => {
  it("is not issued while an administrator acts as its user", async () => {
    const status = async (credential: Credential): Promise<number> => {
      const user = new SimpleUser("ann");
      const app = quiet()
        .use(async (ctx, next) => {
          identify(ctx, { user, auth: "session", credential });
          await next();
        })
        .post("/token", () =>
          new TokenForUser(user, { secret: randomBytes(32).toString("hex"), audience: "shop" }).tokenPair(),
        );
      return (await testClient(app).post("/token")).status;
    };

    expect([await status({}), await status({ impersonator: "root" })]).toEqual([200, 403]);
  });
});

describe("a JSON body whose charset is a quoted string", () => {
  it.each([
    ['"utf-8"', 200],
    ['"utf\\-8"', 415],
    ['"\\"utf-8"', 415],
    ['"utf-8\\\\"', 415],
  ])("charset=%s is %i", async (charset, status) => {
    const app = quiet().post("/", ({ request }) => request.json());
    const headers = { "content-type": `application/json; charset=${charset}` };

    expect((await testClient(app).post("/", { body: "{}", headers })).status).toBe(status);
  });
});

describe("the request of a route with schemas", () => {
  it("has their output as its params, query and body", async () => {
    const n = z.object({ n: z.coerce.number() });
    const app = quiet().post("/:n", { path: n, query: n, body: n }, ({ request }) => [
      request.params,
      request.query,
      request.body,
    ]);

    expect((await testClient(app).post("/1?n=2", { body: { n: "3" } })).json()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe("request.sessions after SessionMiddleware", () => {
  it("lists no session of an anonymous caller", async () => {
    const app = quiet()
      .use(new SessionMiddleware({ secret: randomBytes(32).toString("hex") }))
      .get("/", ({ request }) => request.sessions.list());

    expect((await testClient(app).get("/")).json()).toEqual([]);
  });
});

describe("an application that was closed", () => {
  it("leaves no timer behind", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const app = quiet().get("/", () => "done");
    await testClient(app).get("/");
    await app.close();

    expect(timers()).toBeLessThanOrEqual(before);
  });
});
