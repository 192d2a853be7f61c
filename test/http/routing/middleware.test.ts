import { setTimeout as sleep } from "node:timers/promises";
import {
  type HttpContext,
  HttpException,
  type Middleware,
  type Next,
  PorticoApp,
  type WebSocketContext,
} from "portico";
import { liveClient, logCatcher, SocketRefused, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });
/** Sets a header, then goes on. */
const withHeader =
  (name: string, value: string): Middleware =>
  (ctx, next) => {
    if (ctx.kind === "http") ctx.response.header(name, value);
    return next();
  };

it("runs as an onion: in by the order of declaration, out by the reverse", async () => {
  const steps: string[] = [];
  const layer =
    (name: string): Middleware =>
    async (_ctx, next) => {
      steps.push(`${name} in`);
      await sleep(1);
      await next();
      await sleep(1);
      steps.push(`${name} out`);
    };
  const app = quiet()
    .use(layer("a"))
    .use(layer("b"))
    .get("/", async () => {
      await sleep(1);
      steps.push("handler");
    });

  await testClient(app).get("/");

  expect(steps).toEqual(["a in", "b in", "handler", "b out", "a out"]);
});

overBoth(
  "code after next() runs before the response is sent, and may still change it",
  () =>
    quiet()
      .use(async (ctx, next) => {
        await next();
        if (ctx.kind === "http") ctx.response.status(202).header("x-late", "1");
      })
      .get("/", () => "body"),
  async (client) => {
    const answer = await client.get("/");

    expect([answer.status, answer.headers["x-late"], answer.json()]).toEqual([202, "1", "body"]);
  },
);

overBoth(
  "responds without next(): neither the inner layers nor the handler run",
  () => {
    const ran: string[] = [];
    return quiet()
      .use((ctx, next) => {
        if (ctx.kind === "http" && ctx.request.headers["x-stop"] !== undefined)
          return ctx.response.status(403).json({ stopped: true });
        return next();
      })
      .use((_ctx, next) => {
        ran.push("inner");
        return next();
      })
      .get("/", () => {
        ran.push("handler");
        return ran;
      });
  },
  async (client) => {
    const stopped = await client.get("/", { headers: { "x-stop": "1" } });
    const passed = await client.get("/");

    expect([stopped.status, stopped.json()]).toEqual([403, { stopped: true }]);
    expect(passed.json()).toEqual(["inner", "handler"]);
  },
);

overBoth(
  "may be an object with a handle method, which keeps its this",
  () => {
    class Counter {
      #count = 0;
      handle(ctx: HttpContext | WebSocketContext, next: Next): Promise<void> {
        this.#count++;
        if (ctx.kind === "http") ctx.response.header("x-count", String(this.#count));
        return next();
      }
    }
    return quiet()
      .use(new Counter())
      .get("/", () => "ok");
  },
  async (client) => {
    await client.get("/");

    expect((await client.get("/")).headers["x-count"]).toBe("2");
  },
);

describe("faults", () => {
  const faults: readonly [string, Middleware, string][] = [
    [
      "calls next() twice",
      async function eager(_ctx, next) {
        await next();
        await next();
      },
      "the middleware eager called next() twice",
    ],
    [
      "calls next() twice at once",
      (_ctx, next) => Promise.all([next(), next()]),
      "the middleware (anonymous) called next() twice",
    ],
    ["neither responds nor calls next()", () => {}, "a middleware neither responded nor called next()"],
    [
      "throws",
      () => {
        throw new Error("s3cret");
      },
      "s3cret",
    ],
    [
      "throws on the way out",
      async (_ctx, next) => {
        await next();
        throw new Error("s3cret");
      },
      "s3cret",
    ],
  ];
  it.each(faults)(
    "a middleware that %s causes a 500, and the reason is logged",
    async (_fault, middleware, message) => {
      const log = logCatcher();
      const app = new PorticoApp({ logger: log }).use(middleware).get("/", () => "body");

      const answer = await testClient(app).get("/");

      expect([answer.status, answer.json()]).toEqual([500, expect.objectContaining({ code: "internal_server_error" })]);
      expect(answer.text()).not.toContain("s3cret");
      expect(log.lines.map(({ msg }) => msg)).toEqual([message]);
    },
  );

  it("a middleware that neither rejects a socket nor calls next() causes a 500", async () => {
    const client = await liveClient(
      quiet()
        .use(() => {})
        .socket("/chat", () => {}),
    );

    const refusal = await client.socket("/chat").catch((error: unknown) => error as SocketRefused);
    await client.close();

    expect(refusal).toBeInstanceOf(SocketRefused);
    expect((refusal as SocketRefused).response.status).toBe(500);
  });
});

describe("errors", () => {
  overBoth(
    "that the handler throws pass through next(), where middleware can respond",
    () =>
      quiet()
        .use(async (ctx, next) => {
          try {
            await next();
          } catch (error) {
            if (ctx.kind === "http") ctx.response.status(418).json({ caught: (error as Error).message });
          }
        })
        .get("/", () => {
          throw new Error("boil");
        }),
    async (client) => {
      const answer = await client.get("/");

      expect([answer.status, answer.json()]).toEqual([418, { caught: "boil" }]);
    },
  );

  overBoth(
    "keep the headers that middleware had set before next(), not those of the handler and its cookies",
    () =>
      quiet()
        .use(withHeader("x-app", "kept"))
        .use(withHeader("x-both", "of the middleware"))
        .get("/sync", { middleware: [withHeader("x-route", "kept")] }, ({ response }) => {
          response
            .status(201)
            .header("x-handler", "gone")
            .header("x-both", "of the handler")
            .cookie("session", "half made");
          throw new Error("no");
        })
        .get("/async", { middleware: [withHeader("x-route", "kept")] }, async ({ response }) => {
          response.header("x-handler", "gone").header("x-both", "of the handler").cookie("session", "half made");
          throw new HttpException(500, "no");
        }),
    async (client) => {
      const answers = [await client.get("/sync"), await client.get("/async")];

      for (const { status, headers, cookies } of answers) {
        expect(status).toBe(500);
        expect(headers).toMatchObject({ "x-app": "kept", "x-route": "kept", "x-both": "of the middleware" });
        expect(headers["x-handler"]).toBe(undefined);
        expect(cookies).toEqual([]);
      }
    },
  );

  it("keep the cookies that middleware had set before next()", async () => {
    const app = quiet()
      .use((ctx, next) => {
        if (ctx.kind === "http") ctx.response.cookie("seen", "1");
        return next();
      })
      .get("/", ({ response }) => {
        response.cookie("session", "half made");
        throw new Error("no");
      });

    const answer = await testClient(app).get("/");

    expect(answer.cookies).toEqual([expect.stringMatching(/^seen=1;/)]);
  });

  it("of a middleware itself keep what the outer ones had set", async () => {
    const app = quiet()
      .use(withHeader("x-app", "kept"))
      .use(() => {
        throw new HttpException(403, "no");
      })
      .get("/", () => "never");

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.headers["x-app"]]).toEqual([403, "kept"]);
  });
});

overBoth(
  "of the app runs where no route is, too: on 404 and on 405",
  () =>
    quiet()
      .use(withHeader("x-app", "seen"))
      .get("/books", () => []),
  async (client) => {
    const answers = [await client.get("/boats"), await client.post("/books")];

    expect(answers.map(({ status, headers }) => [status, headers["x-app"]])).toEqual([
      [404, "seen"],
      [405, "seen"],
    ]);
  },
);

it("of the app may respond where there is no route", async () => {
  const app = quiet().use((ctx, next) =>
    ctx.kind === "http" && ctx.request.url.endsWith("/legacy") ? ctx.response.redirect("/new") : next(),
  );

  const answers = [await testClient(app).get("/legacy"), await testClient(app).get("/other")];

  expect(answers.map(({ status }) => status)).toEqual([303, 404]);
});

it("hands values to handlers by the state of the context", async () => {
  const KEY = Symbol("tenant");
  const app = quiet()
    .use((ctx, next) => {
      ctx.state.set(KEY, ctx.request.headers["x-tenant"]);
      return next();
    })
    .get("/", ({ ctx }) => ctx.state.get(KEY));
  const client = testClient(app);

  const answers = await Promise.all(["a", "b"].map((tenant) => client.get("/", { headers: { "x-tenant": tenant } })));

  expect(answers.map((answer) => answer.json())).toEqual(["a", "b"]);
});

it("does not run for health routes or preflights", async () => {
  let runs = 0;
  const app = quiet()
    .use((_ctx, next) => {
      runs++;
      return next();
    })
    .get("/", () => 1);

  const statuses = [
    (await testClient(app).get("/livez")).status,
    (await testClient(app).get("/readyz")).status,
    (await testClient(app).request("OPTIONS", "/")).status,
  ];

  expect(statuses).toEqual([200, 200, 204]);
  expect(runs).toBe(0);
});
