import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { describe, expect, it } from "vitest";
import { hosted, type Middleware, type Write } from "./hosted.ts";

interface Answer {
  readonly status: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** The response, without the headers that Node adds. */
async function answerOf(middleware: Middleware, write: Write): Promise<Answer> {
  const port = await hosted(middleware, write);
  const sent = request({ port, host: "127.0.0.1", agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { date: _date, connection: _connection, "content-length": _length, ...others } = response.headers;
  const { "transfer-encoding": _encoding, ...headers } = others;
  const body = Buffer.concat(await response.toArray()).toString();
  return { status: `${response.statusCode} ${response.statusMessage}`, headers, body };
}

const tagged: Middleware = ({ response }) => response.header("x-app", "app");

describe("the response of a server around the application", () => {
  it.each<[string, Write, Answer]>([
    ["nothing", (response) => response.end("x"), { status: "200 OK", headers: { "x-app": "app" }, body: "x" }],
    [
      "a status",
      (response) => response.writeHead(202).end("x"),
      { status: "202 Accepted", headers: { "x-app": "app" }, body: "x" },
    ],
    [
      "a reason",
      (response) => response.writeHead(202, "Taken").end("x"),
      { status: "202 Taken", headers: { "x-app": "app" }, body: "x" },
    ],
    [
      "an object, in which undefined is no value",
      (response) => response.writeHead(202, { "x-host": "1", "x-many": ["a", "b"], "x-none": undefined }).end("x"),
      { status: "202 Accepted", headers: { "x-app": "app", "x-host": "1", "x-many": "a, b" }, body: "x" },
    ],
    [
      "a reason and an object",
      (response) => response.writeHead(202, "Taken", { "x-host": "1" }).end("x"),
      { status: "202 Taken", headers: { "x-app": "app", "x-host": "1" }, body: "x" },
    ],
    [
      "a list, which replaces earlier headers",
      (response) =>
        response
          .setHeader("x-host", "0")
          .setHeader("x-other", "0")
          .writeHead(202, ["x-host", "1", "x-host", "2"])
          .end("x"),
      { status: "202 Accepted", headers: { "x-app": "app", "x-host": "1, 2", "x-other": "0" }, body: "x" },
    ],
    [
      "a list of pairs",
      (response) =>
        response
          .writeHead(202, [
            ["x-host", "1"],
            ["x-host", "2"],
          ] as never)
          .end("x"),
      { status: "202 Accepted", headers: { "x-app": "app", "x-host": "1, 2" }, body: "x" },
    ],
  ])("has the headers of both if it begins with %s", async (_, write, answer) => {
    expect(await answerOf(tagged, write)).toEqual(answer);
  });

  it("keeps a header that the application sets too", async () => {
    const { headers } = await answerOf(tagged, (response) => response.setHeader("X-App", "host").end());

    expect(headers["x-app"]).toBe("host");
  });

  it.each([
    [undefined, "Cookie, Origin"],
    ["Accept", "Accept, Cookie, Origin"],
    ["Accept,cookie ,  Origin", "Accept, cookie, Origin"],
  ])("depends on what both say: the host on %j", async (host, vary) => {
    const { headers } = await answerOf(
      ({ response }) => response.header("vary", "Cookie, Origin"),
      (response) => {
        if (host !== undefined) response.setHeader("vary", host);
        response.end();
      },
    );

    expect(headers["vary"]).toBe(vary);
  });

  it("has no Vary if neither says so", async () => {
    expect(
      (
        await answerOf(
          () => {},
          (response) => response.end(),
        )
      ).headers,
    ).toEqual({});
  });

  describe("with a cookie of the application", () => {
    const COOKIE = "app=1; Path=/; HttpOnly; Secure; SameSite=Lax";
    const signedIn: Middleware = ({ response }) => response.cookie("app", "1");

    it.each([
      [undefined, [COOKIE]],
      ["host=1", ["host=1", COOKIE]],
      [
        ["host=1", "other=2"],
        ["host=1", "other=2", COOKIE],
      ],
    ])("has it behind those of the host, and is not cached: %j", async (cookies, all) => {
      const { headers } = await answerOf(signedIn, (response) => {
        response.setHeader("cache-control", "public, max-age=60");
        if (cookies !== undefined) response.setHeader("set-cookie", cookies);
        response.end();
      });

      expect(headers).toEqual({ "set-cookie": all, "cache-control": "private, no-store" });
    });

    it("has it also if it is set as a header", async () => {
      const { headers } = await answerOf(
        ({ response }) => response.header("set-cookie", "app=2"),
        (response) => response.setHeader("set-cookie", "host=1").end(),
      );

      expect(headers["set-cookie"]).toEqual(["host=1", "app=2"]);
    });

    it("does not put it into a list that the host uses for several responses", async () => {
      const shared = ["host=1"];
      const forms: Record<string, Write> = {
        "/set": (response) => response.setHeader("set-cookie", shared).end(),
        "/object": (response) => response.writeHead(200, { "set-cookie": shared }).end(),
        "/list": (response) => response.writeHead(200, ["set-cookie", shared, "set-cookie", "host=2"] as never).end(),
      };

      for (const write of Object.values(forms)) await answerOf(signedIn, write);

      expect(shared).toEqual(["host=1"]);
    });

    it("is cached as the application says", async () => {
      const { headers } = await answerOf(
        ({ response }) => response.cookie("app", "1").header("cache-control", "private, max-age=5"),
        (response) => response.setHeader("cache-control", "public").end(),
      );

      expect(headers["cache-control"]).toBe("private, max-age=5");
    });

    it("has the cookie of the host if both have the same name, and is cached as the host says", async () => {
      const { headers } = await answerOf(signedIn, (response) => {
        response.setHeader("cache-control", "public").setHeader("set-cookie", "app=host; Path=/").end();
      });

      expect(headers).toEqual({ "set-cookie": ["app=host; Path=/"], "cache-control": "public" });
    });
  });

  it.each([
    [undefined, "private"],
    ["public", "public"],
  ])("without a cookie is cached as the host says, or else the application: %j", async (host, caching) => {
    const { headers } = await answerOf(
      ({ response }) => response.header("cache-control", "private"),
      (response) => {
        if (host !== undefined) response.setHeader("cache-control", host);
        response.end();
      },
    );

    expect(headers).toEqual({ "cache-control": caching });
  });
});
