import { setTimeout as sleep } from "node:timers/promises";
import { type BaseContext, Depend, every, identify, PorticoApp, provide, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { field, Graph, mutation, schema, subscription, t } from "portico/graphql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

// A check whose promise nothing waits for decides nothing: the code goes on as if access had been allowed. The request fails before
// anything is sent, whatever the verdict is.

const rejections: unknown[] = [];
const note = (reason: unknown): void => {
  rejections.push(reason);
};
beforeEach(() => {
  rejections.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
  vi.unstubAllEnvs();
});

interface Note {
  readonly owner: string;
  readonly text: string;
}
const BOBS: Note = { owner: "bob", text: "SECRET" };
const ANNS: Note = { owner: "ann", text: "SECRET" };
const own = rule<Note>({ name: "own", allows: (user, { owner }) => owner === user.identity });
const ownLater = rule<Note>({
  name: "own.later",
  allows: async (user, { owner }) => {
    await sleep(1);
    return owner === user.identity;
  },
});
const gate = every(useAuth(), async () => {
  await sleep(1);
  return false;
});

type Check = (ctx: BaseContext) => unknown;
const FORGOTTEN: readonly (readonly [name: string, call: string, check: Check])[] = [
  ["ctx.authorize", "await ctx.authorize(...)", (ctx) => void ctx.authorize(own, BOBS)],
  ["ctx.authorize of a rule that waits", "await ctx.authorize(...)", (ctx) => void ctx.authorize(ownLater, BOBS)],
  ["ctx.authorize of a missing object", "await ctx.authorize(...)", (ctx) => void ctx.authorize(own, null as never)],
  ["if (ctx.can(...))", "await ctx.can(...)", (ctx) => ((ctx.can(own, BOBS) as unknown) ? "in" : "out")],
  [
    "if (!ctx.can(...)) of a rule that waits",
    "await ctx.can(...)",
    (ctx) => (!(ctx.can(ownLater, BOBS) as unknown) ? "out" : "in"),
  ],
  ["an allowed check", "await ctx.can(...)", (ctx) => void ctx.can(own, ANNS)],
  ["the check of a gate that waits", "await gate.check(ctx)", (ctx) => void gate.check(ctx)],
];

interface World {
  readonly client: LiveClient;
  /** The messages of the errors in the log. */
  readonly messages: () => readonly string[];
  /** The events of the unit of work, in their order. */
  readonly work: readonly string[];
}

async function start(check: Check, declare: (app: PorticoApp) => void = () => {}): Promise<World> {
  const log: LogCatcher = logCatcher();
  const work: string[] = [];
  const unit = provide(async function* ({ ctx }) {
    try {
      yield {};
    } finally {
      work.push(ctx.outcome);
    }
  });
  const app = new PorticoApp({ logger: log });
  app.use(async (ctx, next) => {
    identify(ctx, { user: new SimpleUser("ann"), auth: "session" });
    await next();
  });
  const later = async (ctx: BaseContext): Promise<void> => {
    await sleep(1);
    check(ctx);
  };
  app
    .get("/sync", ({ ctx }) => {
      check(ctx);
      return BOBS;
    })
    .get("/async", async ({ ctx }) => {
      await later(ctx);
      return BOBS;
    })
    .get("/work", { params: { unit: Depend(unit) } }, async ({ ctx, unit }) => {
      check(ctx);
      return { ...BOBS, unit };
    })
    .get("/middleware", { middleware: [async (ctx, next) => [check(ctx), await next()]] }, () => BOBS)
    .get("/error", ({ ctx }) => {
      check(ctx);
      throw new Error("another error");
    })
    .get("/stream", ({ ctx, response }) =>
      response.stream(
        (async function* () {
          yield "first";
          check(ctx);
          yield BOBS.text;
        })(),
      ),
    )
    .socket("/socket", async ({ ctx, socket }) => {
      for await (const message of socket) {
        if (message === "check") check(ctx);
        socket.send(message === "check" ? BOBS.text : message);
      }
    });
  new Graph(
    schema({
      query: {
        sync: field(t.string)(({ ctx }) => {
          check(ctx);
          return BOBS.text;
        }),
        async: field(t.string)(async ({ ctx }) => {
          await later(ctx);
          return BOBS.text;
        }),
      },
      mutation: {
        change: mutation(t.string, { params: { unit: Depend(unit) } })(async ({ ctx, unit }) => {
          await later(ctx);
          return `${BOBS.text}${Object.keys(unit).length}`;
        }),
        next: mutation(t.string)(() => {
          work.push("next");
          return "next";
        }),
      },
      subscription: {
        start: subscription(t.string)(async function* ({ ctx }) {
          check(ctx);
          yield BOBS.text;
        }),
        next: subscription(t.string)(async function* ({ ctx }) {
          yield "first";
          check(ctx);
          yield BOBS.text;
        }),
      },
    }),
  ).mount(app);
  declare(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  const messages = (): readonly string[] => log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);
  return { client, messages, work };
}

describe.each(FORGOTTEN)("%s without await", (_name, call, check) => {
  it.each(["/sync", "/async", "/middleware"])("fails GET %s before anything is sent", async (path) => {
    const { client, messages } = await start(check);

    const response = await client.get(path);

    expect([response.status, response.json()]).toMatchObject([500, { code: "internal_server_error" }]);
    expect(response.text()).not.toContain("SECRET");
    expect(messages()).toEqual([`GET ${path} did not wait for a check, so nothing was sent: write ${call}`]);
    expect(rejections).toEqual([]);
  });

  it("rolls back the work of the route", async () => {
    const { client, work } = await start(check);

    expect((await client.get("/work")).status).toBe(500);
    expect(work).toEqual(["failure"]);
  });

  it("ends a stream before its next part", async () => {
    const { client, messages } = await start(check);

    const sent = await client.get("/stream").then(
      (response) => response.text(),
      () => "cut off",
    );

    expect(sent).not.toContain("SECRET");
    expect(messages()).toEqual([expect.stringContaining(call)]);
  });

  it.each(["sync", "async"])("fails the query of the field %s", async (name) => {
    const { client, messages } = await start(check);

    const result = await client.graphql(`query Notes { ${name} }`);

    expect(result).toMatchObject({ data: null, errors: [{ message: "Unexpected error" }] });
    expect(messages()).toEqual([expect.stringContaining(call)]);
    expect(messages()[0]).toContain("POST /graphql");
    expect(rejections).toEqual([]);
  });

  it("names the field", async () => {
    const { client, messages } = await start(check);

    await client.graphql("{ sync }");

    expect(messages()[0]).toMatch(/^the field Query\.sync \(POST \/graphql\)/);
  });

  it("rolls a mutation back, and runs none of its further fields", async () => {
    const { client, work, messages } = await start(check);

    const result = await client.graphql("mutation { change next }");

    expect(result).toMatchObject({ data: null, errors: [{ message: "Unexpected error" }] });
    expect(work).toEqual(["failure"]);
    expect(messages()).toEqual([expect.stringContaining(call)]);
  });

  it.each([
    ["start", []],
    ["next", ["first"]],
  ])("ends the subscription %s before the event", async (name, sent) => {
    const { client, messages } = await start(check);
    const events: unknown[] = [];
    const errors: unknown[] = [];

    for await (const event of client.subscribe(`subscription { ${name} }`)) {
      if (event.data) events.push(event.data[name]);
      errors.push(...(event.errors ?? []));
    }

    expect([events, errors.length]).toEqual([sent, 1]);
    expect(messages()).toEqual([expect.stringContaining(call)]);
    expect(rejections).toEqual([]);
  });

  it("closes a socket instead of sending to it", async () => {
    const { client, messages } = await start(check);
    const socket = await client.socket("/socket");

    socket.send("hello");
    expect(await socket.next()).toBe("hello");
    socket.send("check");

    expect((await socket.closed).code).toBe(1011);
    await expect.poll(() => messages().length, { timeout: 5_000 }).toBe(1);
    expect(messages()[0]).toContain(`write ${call}`);
    expect(rejections).toEqual([]);
  });

  it("is reported besides another error of the handler", async () => {
    const { client, messages } = await start(check);

    expect((await client.get("/error")).status).toBe(500);
    expect(messages().toSorted()).toEqual(
      ["GET /error did not wait for a check, so nothing was sent: write " + call, "another error"].toSorted(),
    );
    expect(rejections).toEqual([]);
  });
});

it("the error shows the line that made the check", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log }).get("/", ({ ctx }) => {
    void ctx.can(own, ANNS);
    return "in";
  });
  const client = await liveClient(app);
  onTestFinished(() => client.close());

  await client.get("/");

  const [line] = log.lines.filter(({ level }) => level === "error");
  const stack = String((line?.["err"] as { stack?: string } | undefined)?.stack);
  expect(stack).toMatch(/^CheckNotAwaited: GET \/ did not wait for a check/);
  expect(stack).toContain("forgotten-checks.test.ts");
});

it("fails in production too", async () => {
  const { client, messages } = await start((ctx) => void ctx.authorize(own, BOBS));
  vi.stubEnv("NODE_ENV", "production");

  expect((await client.get("/sync")).status).toBe(500);
  expect(messages()).toEqual([
    "GET /sync did not wait for a check, so nothing was sent: write await ctx.authorize(...)",
  ]);
});

describe("a check that something waits for", () => {
  const WAITED: readonly (readonly [name: string, check: (ctx: BaseContext) => unknown])[] = [
    ["await", async (ctx) => await ctx.authorize(own, ANNS)],
    ["return from an async function", async (ctx) => ctx.authorize(ownLater, ANNS)],
    ["return from a function", (ctx) => ctx.authorize(ownLater, ANNS)],
    ["then", (ctx) => ctx.authorize(own, ANNS).then((one) => one)],
    ["catch", (ctx) => ctx.authorize(own, BOBS).catch(() => ANNS)],
    ["finally", (ctx) => ctx.authorize(own, ANNS).finally(() => {})],
    ["Promise.all", (ctx) => Promise.all([ctx.authorize(own, ANNS), ctx.can(ownLater, BOBS)]).then(([one]) => one)],
    ["Promise.allSettled", (ctx) => Promise.allSettled([ctx.can(own, BOBS)]).then(() => ANNS)],
    ["Promise.race", (ctx) => Promise.race([ctx.authorize(own, ANNS), sleep(5_000, ANNS)])],
    [
      "await after other work",
      async (ctx) => {
        const isOwn = ctx.can(ownLater, ANNS);
        await sleep(5);
        return (await isOwn) ? ANNS : null;
      },
    ],
  ];

  it.each(WAITED)("is a check as before: %s", async (_name, check) => {
    const { client, messages } = await start(
      () => {},
      (app) => app.get("/waited", async ({ ctx }) => check(ctx) as Promise<Note>),
    );

    expect((await client.get("/waited")).json()).toEqual(ANNS);
    expect(messages()).toEqual([]);
  });

  it("may be awaited on a socket while another part of the handler sends", async () => {
    const { client, messages } = await start(
      () => {},
      (app) =>
        app.socket("/both", async ({ ctx, socket }) => {
          const checks = async (): Promise<void> => {
            for (let n = 0; n < 50; n++) await ctx.can(n % 2 === 0 ? own : ownLater, ANNS);
          };
          const sends = async (): Promise<void> => {
            for (let n = 0; n < 50; n++) {
              socket.send(String(n));
              await Promise.resolve();
            }
          };
          await Promise.all([checks(), sends(), checks(), sends()]);
        }),
    );

    const socket = await client.socket("/both");

    expect((await socket.closed).code).toBe(1000);
    expect(messages()).toEqual([]);
  });

  it("is a promise, with the result or the rejection as its outcome", async () => {
    const { client } = await start(
      () => {},
      (app) =>
        app.get("/promise", async ({ ctx }) => {
          const check = ctx.authorize(own, BOBS);
          const isPromise = check instanceof Promise;
          const status = await check.catch((error: { status: number }) => error.status);
          return { isPromise, status, same: (await ctx.authorize(own, ANNS)) === ANNS };
        }),
    );

    expect((await client.get("/promise")).json()).toEqual({ isPromise: true, status: 404, same: true });
  });
});
