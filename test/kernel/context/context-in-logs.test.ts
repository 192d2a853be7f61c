import { inspect } from "node:util";
import { currentContext, HttpException, PorticoApp, type WebSocketContext } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";
import { startApp } from "../../http/start-app.ts";

describe("console.log of a context", () => {
  it("prints its class, its caller and its path, and no credentials", async () => {
    const app = new PorticoApp({ logger: false }).get("/books/:id", ({ ctx, response }) =>
      response.text(inspect(ctx, { depth: 9 })),
    );

    const answer = await testClient(app).get("/books/1?token=s3cret", { headers: { cookie: "a=s3cret" } });
    const text = answer.text();

    expect(text).toMatch(/^HttpContext \{/);
    for (const part of ["kind: 'http'", "method: 'GET'", "path: '/books/1'", "user: ''", "auth: null"])
      expect(text).toContain(part);
    expect(text).not.toContain("s3cret");
    expect(text).not.toContain("impersonator");
  });

  it("names the context of a socket", async () => {
    let printed = "";
    const { socket: open } = await startApp((app) =>
      app.socket("/ws", ({ ctx }: { readonly ctx: WebSocketContext }) => {
        // It has no response that could be cached.
        ctx.cache({ maxAge: 60 });
        printed = inspect(ctx);
      }),
    );
    await (await open("/ws")).closed;

    expect(printed).toMatch(/^WebSocketContext \{ kind: 'websocket'/);
  });
});

describe("the log line of an error", () => {
  async function lineOf(error: unknown, path = "/"): Promise<ReturnType<typeof logCatcher>["lines"][number]> {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/*", () => {
      throw error;
    });
    expect((await testClient(app).get(path)).status).toBe(500);
    const [line] = log.lines;
    if (line === undefined || log.lines.length > 1) throw new Error("there is one line for each error");
    return line;
  }

  it("has the method, the path without its query, the code and the message", async () => {
    expect(await lineOf(new Error("no paper"), "/print?copies=3")).toMatchObject({
      level: "error",
      msg: "no paper",
      method: "GET",
      path: "/print",
      code: "INTERNAL_SERVER_ERROR",
    });
  });

  it("says so if the thrown value is not an Error", async () => {
    expect((await lineOf("no paper")).msg).toBe("a value that is not an Error was thrown");
  });

  it("repeats at most 300 characters of a path and of a message", async () => {
    const line = await lineOf(new Error("x".repeat(1_000)), `/${"y".repeat(1_000)}`);

    expect([line.msg.length, String(line["path"]).length]).toEqual([300, 300]);
  });
});

describe("a problem", () => {
  it("has the name of its status as its title, or Error for a status without a name", async () => {
    const problemOf = async (status: number): Promise<unknown> => {
      const app = new PorticoApp({ logger: false }).get("/", () => {
        throw new HttpException(status, "because", { code: "MINE" });
      });
      return (await testClient(app).get("/")).json();
    };

    expect(await problemOf(410)).toEqual({
      type: "about:blank",
      title: "Gone",
      status: 410,
      detail: "because",
      code: "mine",
    });
    expect(await problemOf(499)).toMatchObject({ title: "Error", status: 499 });
  });
});

describe("the signal of a request", () => {
  it("aborts in the context of the code that read it", async () => {
    const entered = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    const { port } = await startApp((app) =>
      app.get("/:name", async ({ ctx, path }) => {
        const { signal } = ctx;
        signal.addEventListener("abort", () =>
          aborted.resolve([path.name, currentContext() === ctx, ctx.signal === signal, signal.reason]),
        );
        entered.resolve();
        await aborted.promise;
      }),
    );
    const { socket } = await rawConnection(port);
    socket.write("GET /emma HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered.promise;

    socket.destroy();

    expect(await aborted.promise).toEqual([
      "emma",
      true,
      true,
      expect.objectContaining({ name: "AbortError", message: "The client disconnected" }),
    ]);
  });
});
