import { setImmediate as turn } from "node:timers/promises";
import { Depend, type Identity, identify, type PorticoApp, provide, revoked } from "portico";
import { SimpleUser } from "portico/auth";
import { logCatcher, manualClock, SocketRefused } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startApp } from "../start-app.ts";

afterEach(() => void vi.useRealTimers());

/** Signs every caller in with this credential. */
const signedIn =
  (credential: NonNullable<Identity["credential"]>) =>
  (app: PorticoApp): void => {
    app.use(async (ctx, next) => {
      identify(ctx, { user: new SimpleUser("ann"), auth: "session", credential });
      await next();
    });
    app.socket("/ws", async ({ socket }) => {
      for await (const _ of socket);
    });
  };

describe("a socket is closed", () => {
  it("when its credential expires", async () => {
    const clock = manualClock();
    const client = await startApp(signedIn({ expiresAt: 1_000 }), { clock });
    const socket = await client.socket("/ws");

    clock.advance(1_000);

    expect(await socket.closed).toEqual({ code: 4403, reason: "the credential has expired" });
  });

  it("when its credential is revoked", async () => {
    let app: PorticoApp | undefined;
    const client = await startApp((made) => {
      app = made;
      signedIn({ id: "key:1" })(made);
    });
    const socket = await client.socket("/ws");

    await app?.pubsub.publish(revoked, { user: "ann", credential: "key:1" });

    expect(await socket.closed).toEqual({ code: 4403, reason: "the credential was revoked" });
  });

  it("with 1000 when its handler returns", async () => {
    const client = await startApp((app) => app.socket("/ws", ({ socket }) => socket.send("bye")));
    const socket = await client.socket("/ws");

    expect(await socket.next()).toBe("bye");
    expect(await socket.closed).toEqual({ code: 1000, reason: "" });
  });
});

describe("a handler that does not notice the end of its socket", () => {
  it("keeps its dependencies for the grace time, and its signal is aborted at once", async () => {
    const [ends, reasons]: [unknown[], DOMException[]] = [[], []];
    const database = provide(async function* ({ ctx }) {
      try {
        yield 1;
      } finally {
        ends.push(ctx.outcome);
      }
    });
    const client = await startApp(
      (app) =>
        app.socket("/ws", { params: { db: Depend(database) } }, ({ ctx }) => {
          ctx.signal.addEventListener("abort", () => reasons.push(ctx.signal.reason));
          return new Promise(() => {});
        }),
      { timeouts: { graceSeconds: 7 } },
    );
    const socket = await client.socket("/ws");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

    socket.terminate();
    while (reasons.length === 0) await turn();
    vi.advanceTimersByTime(6_999);
    for (let n = 0; n < 50; n++) await turn();
    expect(ends).toEqual([]);
    vi.advanceTimersByTime(1);
    while (ends.length === 0) await turn();

    expect(reasons.map(({ name, message }) => [name, message])).toEqual([["AbortError", "The socket is closed"]]);
    expect(ends).toEqual(["success"]);
  });

  it("leaves no timer behind if it ends in time", async () => {
    const ends: string[] = [];
    const client = await startApp((app) =>
      app.socket("/ws", async ({ socket }) => {
        for await (const _ of socket);
        ends.push("by itself");
      }),
    );
    const socket = await client.socket("/ws");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

    socket.terminate();
    while (ends.length === 0) await turn();
    for (let n = 0; n < 50; n++) await turn();

    expect(vi.getTimerCount()).toBe(0);
  });
});

it("a handler that ends before its socket leaves no timer behind either", async () => {
  const client = await startApp((app) => app.socket("/ws", ({ socket }) => socket.send("bye")));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const socket = await client.socket("/ws");

  await socket.closed;
  for (let n = 0; n < 50; n++) await turn();

  expect(vi.getTimerCount()).toBe(0);
});

describe("an upgrade is rejected", () => {
  const refused = async (opening: Promise<unknown>): Promise<unknown[]> => {
    const error: unknown = await opening.catch((thrown: unknown) => thrown);
    if (!(error instanceof SocketRefused)) throw new Error("the socket was opened");
    return [error.response.status, error.response.json()];
  };

  it("if a page of another origin sends it, whether its name is known or not", async () => {
    const client = await startApp((app) => app.socket("/ws", () => {}));

    expect(await refused(client.socket("/ws", { headers: { origin: "https://evil.example" } }))).toMatchObject([
      403,
      { code: "origin_refused", detail: "The origin https://evil.example is not allowed" },
    ]);
    expect(await refused(client.socket("/ws", { headers: { "sec-fetch-site": "cross-site" } }))).toMatchObject([
      403,
      { code: "origin_refused", detail: "The origin of this page is not allowed" },
    ]);
  });

  it("if a middleware does not call next, and the log says so", async () => {
    const log = logCatcher();
    const client = await startApp((app) => app.use(() => {}).socket("/ws", () => {}), { logger: log });

    expect(await refused(client.socket("/ws"))).toMatchObject([500, { code: "internal_server_error" }]);
    expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([
      { msg: "a middleware neither refused the socket nor called next()", path: "/ws" },
    ]);
  });

  it("and its dependencies see a failure", async () => {
    const ends: unknown[] = [];
    const database = provide(async function* ({ ctx }) {
      try {
        yield 1;
      } finally {
        ends.push(ctx.outcome);
        await Promise.reject(new Error("cannot roll back"));
      }
    });
    const log = logCatcher();
    const client = await startApp(
      (app) =>
        app
          .use(async (ctx, next) => {
            await next();
            if (ctx.kind === "websocket") ends.push("never here");
          })
          .socket(
            "/ws",
            { params: { db: Depend(database), no: Depend(() => Promise.reject(new Error("no"))) } },
            () => {},
          ),
      { logger: log },
    );

    expect(await refused(client.socket("/ws"))).toMatchObject([500, { code: "internal_server_error" }]);
    const errors = (): unknown => log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);
    await expect.poll(errors).toEqual(["no", "cannot roll back"]);
    expect(ends).toEqual(["failure"]);
  });
});
