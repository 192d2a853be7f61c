import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { AnonymousUser, currentContext, type HttpContext, type HttpException, identify, PorticoApp } from "portico";
import { SimpleUser } from "portico/auth";
import { describe, expect, it, onTestFinished } from "vitest";

type Ask = (options?: { readonly auth?: boolean | ((user: { identity: string }) => boolean) }) => Promise<HttpContext>;

/** Runs `route` for one request to a plain Node server, with `app.identify` for that request. Returns its value or error. */
async function inHost<T>(
  app: PorticoApp,
  route: (ask: Ask) => Promise<T>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly value: T | HttpException; readonly headers: IncomingHttpHeaders }> {
  let value: T | HttpException | undefined;
  const server = createServer((incoming, response) => {
    void route((options) => app.identify(incoming, response, options as {}))
      .catch((error: unknown) => error as HttpException)
      .then((result) => {
        value = result;
        response.end();
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await app.close();
  });
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: "127.0.0.1", port, headers, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  await answer.resume().toArray();
  return { value: value as T | HttpException, headers: answer.headers };
}

const ann = { user: new SimpleUser("ann"), auth: "session" } as const;

/** An application whose middleware calls `act`, and then `next()` unless that returns `false`. */
function withMiddleware(act: (ctx: HttpContext) => unknown): PorticoApp {
  return new PorticoApp({ logger: false }).use(async (ctx, next) => {
    if (ctx.kind === "http" && act(ctx) !== false) await next();
  });
}

describe("app.identify", () => {
  it("runs the middleware once for each request, however often its caller is identified", async () => {
    let runs = 0;
    const app = withMiddleware((ctx) => {
      runs++;
      identify(ctx, ann);
    });
    const twice = async (ask: Ask): Promise<unknown[]> => {
      const [one, two] = [await ask(), await ask({ auth: true })];
      return [one.user.identity, one === two];
    };

    expect((await inHost(app, twice)).value).toEqual(["ann", true]);
    expect((await inHost(app, twice)).value).toEqual(["ann", true]);
    expect(runs).toBe(2);
  });

  it("asks the gate in the context of the request, each time", async () => {
    const asked: unknown[] = [];
    const app = withMiddleware((ctx) => identify(ctx, ann));
    let answer = false;
    const gate = (user: { identity: string }): boolean => {
      asked.push([user.identity, currentContext()?.request.headers["x-request"]]);
      return answer;
    };
    const run = (): ReturnType<typeof inHost> =>
      inHost(app, (ask) => ask({ auth: gate }), { "x-request": `${asked.length}` });

    expect((await run()).value).toMatchObject({ status: 403, code: "FORBIDDEN" });
    answer = true;
    expect((await run()).value).toMatchObject({ user: { identity: "ann" } });
    expect(asked).toEqual([
      ["ann", "0"],
      ["ann", "1"],
    ]);
  });

  it("accepts an anonymous caller unless auth is required", async () => {
    const app = withMiddleware(() => true);

    expect((await inHost(app, (ask) => ask())).value).toMatchObject({ user: { isAuthenticated: false } });
    expect((await inHost(app, (ask) => ask({ auth: false }))).value).toMatchObject({
      user: { isAuthenticated: false },
    });
    expect((await inHost(app, (ask) => ask({ auth: true }))).value).toMatchObject({
      status: 401,
      message: "Authentication required",
    });
  });

  it("rejects with 503 while the caller cannot be authenticated, but not an invalid credential", async () => {
    const failing = withMiddleware((ctx) =>
      identify(ctx, { user: new AnonymousUser(), auth: null, failure: new Error("the store is down") }),
    );
    const invalid = withMiddleware((ctx) => identify(ctx, { user: new AnonymousUser(), auth: null, isRejected: true }));

    expect((await inHost(failing, (ask) => ask())).value).toMatchObject({
      status: 503,
      message: "Authentication is temporarily unavailable. Try again later.",
    });
    expect((await inHost(invalid, (ask) => ask())).value).toMatchObject({ user: { isAuthenticated: false } });
  });

  it("adds the headers that the middleware sets to the response of the host", async () => {
    const app = withMiddleware((ctx) => ctx.response.header("x-trace", "7").cookie("theme", "dark"));

    const { headers } = await inHost(app, (ask) => ask());

    expect([headers["x-trace"], headers["set-cookie"]]).toEqual(["7", [expect.stringMatching(/^theme=dark; /)]]);
  });

  it("rejects a request whose host name is not valid", async () => {
    const app = withMiddleware(() => true);
    const { value } = await inHost(app, (ask) => ask(), { host: "evil.example/path" });

    expect(value).toMatchObject({ status: 400 });
  });

  it.each<[string, (ctx: HttpContext) => unknown, number]>([
    ["sends 400", ({ response }) => response.status(400).json({}), 400],
    ["sends 499", ({ response }) => response.status(499).empty(), 499],
    ["only sets 404", ({ response }) => response.status(404), 404],
  ])("rejects with its status if a middleware %s", async (_case, act, status) => {
    const app = withMiddleware((ctx) => {
      act(ctx);
      return false;
    });

    expect((await inHost(app, (ask) => ask())).value).toMatchObject({
      status,
      name: "HttpException",
      message: "A middleware rejected the request",
    });
  });

  it.each<[string, (ctx: HttpContext) => unknown]>([
    ["does nothing", () => {}],
    ["sends a body with 200", ({ response }) => response.json({})],
    ["redirects", ({ response }) => response.redirect("/elsewhere")],
    ["sends 500", ({ response }) => response.status(500).json({})],
    ["sends 503", ({ response }) => response.status(503).json({})],
  ])("rejects with an error if a middleware %s, and does not call next", async (_case, act) => {
    const app = withMiddleware((ctx) => {
      act(ctx);
      return false;
    });

    const { value } = await inHost(app, (ask) => ask());

    expect(value).toBeInstanceOf(Error);
    expect(value).not.toHaveProperty("status");
    expect(value).toHaveProperty("message", "identify: a middleware did not call next(), so the caller is unknown");
  });
});
