import {
  BaseContext,
  ConfigurationError,
  Depend,
  HttpContext,
  PorticoApp,
  provide,
  Router,
  WebSocketContext,
} from "portico";
import { liveClient, logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

describe("Depend", () => {
  overBoth(
    "passes in the result of a function, a promise or a generator",
    () =>
      quiet().get(
        "/",
        {
          params: {
            plain: Depend(() => "plain"),
            later: Depend(async () => "later"),
            yielded: Depend(function* () {
              yield "yielded";
            }),
            yieldedLater: Depend(async function* () {
              yield "yielded later";
            }),
            nothing: Depend(() => undefined),
          },
        },
        ({ plain, later, yielded, yieldedLater, nothing }) => [
          plain,
          later,
          yielded,
          yieldedLater,
          nothing === undefined,
        ],
      ),
    async (client) => {
      expect((await client.get("/")).json()).toEqual(["plain", "later", "yielded", "yielded later", true]);
    },
  );

  it("[DEP-09] on an ordinary route resolves the same callable once per parameter: two calls, two values", async () => {
    let calls = 0;
    const session = (): { n: number } => ({ n: ++calls });
    const app = quiet().get("/", { params: { a: Depend(session), b: Depend(session) } }, ({ a, b }) => [
      a.n,
      b.n,
      a === b,
    ]);

    const first = await testClient(app).get("/");
    const second = await testClient(app).get("/");

    expect(first.json()).toEqual([1, 2, false]);
    expect(second.json()).toEqual([3, 4, false]);
  });

  it("[DEP-09] does so for one that two dependencies share, and for generators", async () => {
    const log: string[] = [];
    let calls = 0;
    const connection = function* (): Generator<number> {
      const n = ++calls;
      log.push(`open ${n}`);
      try {
        yield n;
      } finally {
        log.push(`close ${n}`);
      }
    };
    const one = provide({ db: Depend(connection) })(({ db }) => db);
    const two = provide({ db: Depend(connection) })(({ db }) => db);
    const app = quiet().get("/", { params: { one: Depend(one), two: Depend(two) } }, ({ one, two }) => [one, two]);

    const answer = await testClient(app).get("/");

    expect(answer.json()).toEqual([1, 2]);
    expect(log).toEqual(["open 1", "open 2", "close 2", "close 1"]);
  });

  it("resolves the parameters in the order they are declared in, each after the one before", async () => {
    const order: string[] = [];
    const slow = (name: string, ms: number) =>
      Depend(async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, ms));
        order.push(`${name} ends`);
      });
    const app = quiet().get("/", { params: { a: slow("a", 5), b: slow("b", 0) } }, () => order);

    expect((await testClient(app).get("/")).json()).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  it("resolves after the gate and the schemas: a rejected request opens nothing", async () => {
    let calls = 0;
    const app = quiet().get(
      "/",
      {
        auth: {
          required: true,
          scopes: [],
          check() {
            throw new RangeError("no");
          },
        },
        params: { db: Depend(() => ++calls) },
      },
      () => "never",
    );

    await testClient(app).get("/");

    expect(calls).toBe(0);
  });

  it.each([
    ["nothing", undefined],
    ["an object", {}],
    ["a string", "f"],
  ])("rejects %s", (_what, provider) => {
    expect(() => Depend(provider as never)).toThrow(ConfigurationError);
    expect(() => Depend(provider as never)).toThrow("Depend must be given a function, or the result of provide()");
  });
});

describe("provide", () => {
  overBoth(
    "resolves the dependencies of a dependency before it",
    () => {
      const order: string[] = [];
      const url = (): string => {
        order.push("url");
        return "db://x";
      };
      const connection = provide({ url: Depend(url) })(async function* ({ url }) {
        order.push("connection");
        yield { query: (sql: string) => `${url}: ${sql}` };
      });
      const shelf = provide({ db: Depend(connection), name: Depend(async () => "books") })(({ db, name }) => {
        order.push("shelf");
        return db.query(`select * from ${name}`);
      });
      return quiet().get("/", { params: { shelf: Depend(shelf) } }, ({ shelf }) => ({ shelf, order: order.splice(0) }));
    },
    async (client) => {
      expect((await client.get("/")).json()).toEqual({
        shelf: "db://x: select * from books",
        order: ["url", "connection", "shelf"],
      });
    },
  );

  overBoth(
    "hands the context to every provider without declaring it, and under any name to one that does",
    () => {
      const ambient = provide(({ ctx, context }) => [ctx.kind, ctx === context, ctx.request.headers["x-who"]]);
      const declared = provide({ http: HttpContext, base: BaseContext })(({ http, base, ctx }) => [
        http === base && base === ctx,
        http.kind,
      ]);
      const renamed = provide({ ctx: HttpContext })(({ ctx }) => ctx.response.header("x-seen", "1") !== undefined);
      return quiet().get(
        "/",
        { params: { ambient: Depend(ambient), declared: Depend(declared), renamed: Depend(renamed) } },
        ({ ambient, declared, renamed }) => ({ ambient, declared, renamed }),
      );
    },
    async (client) => {
      const answer = await client.get("/", { headers: { "x-who": "me" } });

      expect(answer.json()).toEqual({ ambient: ["http", true, "me"], declared: [true, "http"], renamed: true });
      expect(answer.headers["x-seen"]).toBe("1");
    },
  );

  it.each([
    [
      "nothing",
      () => provide(undefined as never),
      "provide must be given parameters or a function, received undefined",
    ],
    ["parameters without a function", () => provide({})(7 as never), "provide must be given a function, received 7"],
  ])("rejects %s", (_what, act, sentence) => {
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(sentence);
  });
});

describe("a context as a parameter", () => {
  overBoth(
    "may have any name, ctx and context among them",
    () =>
      quiet().get(
        "/",
        { params: { http: HttpContext, base: BaseContext, ctx: HttpContext, context: BaseContext } },
        ({ http, base, ctx, context, request }) => [
          http === base && ctx === http && context === http,
          http.request === request,
        ],
      ),
    async (client) => {
      expect((await client.get("/")).json()).toEqual([true, true]);
    },
  );

  it("on a socket is that of the socket, and HttpContext is rejected at the declaration", async () => {
    const app = quiet().socket(
      "/chat",
      { params: { ws: WebSocketContext, base: BaseContext } },
      ({ ws, base, ctx, socket }) => {
        socket.send(String(ws === ctx && base === ctx));
      },
    );
    const client = await liveClient(app);

    const first = await (await client.socket("/chat")).next();
    await client.close();

    expect(first).toBe("true");
    expect(() => quiet().socket("/chat", { params: { http: HttpContext } }, () => {})).toThrow(
      "socket /chat: the parameter http is declared as HttpContext, which is not available in this route",
    );
  });
});

describe("faults", () => {
  it("a cycle is found when the route is declared, and named", () => {
    const params: Record<string, never> = {};
    const chicken = provide(params)(function chicken() {
      return 1;
    });
    const egg = provide({ chicken: Depend(chicken) })(function egg() {
      return 1;
    });
    params["egg"] = Depend(egg) as never;
    const act = (): unknown => new Router().get("/barn", { params: { start: Depend(chicken) } }, () => 1);

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow("depends on itself: chicken -> egg -> chicken");
    expect(act).toThrow(/^GET \/barn/);
  });

  it("a dependency on itself is a cycle, but one that is only used twice is not", () => {
    const params: Record<string, never> = {};
    const narcissus = provide(params)(function narcissus() {
      return 1;
    });
    const shared = (): number => 1;
    const left = provide({ shared: Depend(shared) })(({ shared }) => shared);
    const right = provide({ shared: Depend(shared), left: Depend(left) })(({ shared }) => shared);
    params["self"] = Depend(narcissus) as never;

    expect(() => new Router().get("/", { params: { n: Depend(narcissus) } }, () => 1)).toThrow(
      "narcissus -> narcissus",
    );
    expect(() =>
      new Router().get("/", { params: { left: Depend(left), right: Depend(right) } }, () => 1),
    ).not.toThrow();
  });

  it("a dependency under the name of the context is rejected", () => {
    const named = provide({ ctx: Depend(() => 1) as never })(() => 1);

    expect(() => new Router().get("/", { params: { ctx: Depend(() => 1) } as never }, () => 1)).toThrow(
      "GET /: the parameter ctx is reserved for the context: choose another name for the dependency",
    );
    expect(() => new Router().get("/", { params: { named: Depend(named) } }, () => 1)).toThrow(
      "the parameter ctx is reserved for the context: choose another name for the dependency",
    );
  });

  it("a parameter of a provider that is neither dependency nor context is rejected with its path", () => {
    const broken = provide({ db: 7 as never })(function broken() {
      return 1;
    });

    expect(() => new Router().get("/", { params: { x: Depend(broken) } }, () => 1)).toThrow(
      "GET /: broken: the parameter db must be Depend(...) or a context class, received 7",
    );
  });

  it.each([
    ["sync", function* nothing(): Generator<number> {}],
    ["async", async function* nothing(): AsyncGenerator<number> {}],
  ])("a generator that never yields is a 500, and the log names it (%s)", async (_kind, generator) => {
    const log = logCatcher();
    let isReached = false;
    const app = new PorticoApp({ logger: log }).get(
      "/",
      { params: { x: Depend(generator as () => Generator<number>) } },
      () => {
        isReached = true;
      },
    );

    const answer = await testClient(app).get("/");

    expect([answer.status, isReached]).toEqual([500, false]);
    expect(log.lines.map(({ msg, code }) => [msg, code])).toEqual([
      ["nothing is a generator that yielded nothing", "DEPENDENCY_FAILED"],
    ]);
  });

  it("a provider that throws is handled like a handler that throws", async () => {
    const app = quiet()
      .get(
        "/",
        {
          params: {
            x: Depend(async () => {
              throw new RangeError("no");
            }),
          },
        },
        () => "never",
      )
      .addExceptionHandler(RangeError, (_request, response) => response.status(416).json("range"));

    expect((await testClient(app).get("/")).status).toBe(416);
  });

  it("a provider that needs the context of a socket fails on an HTTP route, by name", async () => {
    const log = logCatcher();
    const chat = provide({ ws: WebSocketContext })(({ ws }) => ws.kind);
    const app = new PorticoApp({ logger: log }).get("/", { params: { chat: Depend(chat) } }, ({ chat }) => chat);

    const answer = await testClient(app).get("/");

    expect(answer.status).toBe(500);
    expect(log.lines[0]?.msg).toBe("the parameter ws needs a WebSocketContext, but this is a HttpContext");
  });
});
