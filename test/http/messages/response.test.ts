import { Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { type HttpContext, HttpException, PorticoApp, type PorticoResponse } from "portico";
import { type LiveClient, liveClient, logCatcher, testClient } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";
import { rawConnection } from "../raw-connection.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });
/** An app whose one route answers with what `make` makes. */
const answering = (make: (response: PorticoResponse, ctx: HttpContext) => unknown): PorticoApp =>
  quiet().get("/", ({ response, ctx }) => make(response, ctx));

let live: LiveClient | undefined;
afterEach(async () => {
  await live?.close();
  live = undefined;
});

describe("status and headers", () => {
  overBoth(
    "are sent as they were set, the last value of a header counting",
    () =>
      answering((response) =>
        response.status(202).header("X-Shelf", "1").header("x-shelf", "2").header("content-type", "text/csv").json([1]),
      ),
    async (client) => {
      const answer = await client.get("/");

      expect(answer.status).toBe(202);
      expect(answer.headers).toMatchObject({ "x-shelf": "2", "content-type": "text/csv" });
      expect(answer.text()).toBe("[1]");
    },
  );

  it.each([100, 199, 600, 200.5, Number.NaN])("reject %s as a status where it is set", async (status) => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/", ({ response }) => response.status(status).text("never"));

    const answer = await testClient(app).get("/");

    expect(answer.status).toBe(500);
    expect(log.lines[0]?.msg).toBe(`the status must be a whole number from 200 to 599, received ${status}`);
  });

  const injections: readonly [string, string, string][] = [
    ["a line break in a value", "x-a", "a\r\nset-cookie: admin=1"],
    ["a character that is not Latin in a value", "x-a", "✓"],
    ["a line break in a name", "x-a\r\nset-cookie", "admin=1"],
    ["an empty name", "", "a"],
  ];
  describe.each(injections)("with %s", (_what, name, value) => {
    overBoth(
      "are a 500 that splits nothing, and the next request is served",
      () =>
        quiet()
          .get("/sync", ({ response }) => response.header(name, value).text("never"))
          .get("/async", async ({ response }) => response.header(name, value).text("never"))
          .get("/thrown", async () => {
            throw new HttpException(400, "bad", { headers: { [name]: value } });
          })
          .get("/fine", () => "fine"),
      async (client) => {
        const answers = [await client.get("/sync"), await client.get("/async"), await client.get("/thrown")];

        expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
        for (const answer of answers) {
          expect(answer.cookies).toEqual([]);
          expect(answer.json()).toMatchObject({ code: "internal_server_error", correlation_id: expect.any(String) });
        }
        expect((await client.get("/fine")).json()).toBe("fine");
      },
    );
  });

  it("of an exception that HTTP does not have are a 500, with the exception in the log", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/", async () => {
      throw new HttpException(999, "the original", { headers: { "x-part": "of it" } });
    });

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.headers["x-part"]]).toEqual([500, undefined]);
    expect(log.lines).toHaveLength(1);
    expect(log.text).toContain("received 999");
    expect(log.text).toContain("the original");
  });
});

describe("cookies", () => {
  overBoth(
    "are secure without a word about it, and several may be set",
    () => answering((response) => response.cookie("a", "1").cookie("b", "é; x").text("")),
    async (client) => {
      const answer = await client.get("/");

      expect(answer.cookies).toEqual([
        "a=1; Path=/; HttpOnly; Secure; SameSite=Lax",
        "b=%C3%A9%3B%20x; Path=/; HttpOnly; Secure; SameSite=Lax",
      ]);
    },
  );

  it("take options", async () => {
    const app = answering((response) =>
      response
        .cookie("a", "1", {
          httpOnly: false,
          secure: false,
          sameSite: "strict",
          path: "/shop",
          domain: "shop.example",
          maxAgeSeconds: 60,
        })
        .text(""),
    );

    const answer = await testClient(app).get("/");

    expect(answer.cookies).toEqual(["a=1; Max-Age=60; Domain=shop.example; Path=/shop; SameSite=Strict"]);
  });

  it("stay secure when an option is there and undefined", async () => {
    const options = { secure: undefined, httpOnly: undefined, sameSite: undefined, path: undefined } as never;
    const app = answering((response) => response.cookie("a", "1", options).text(""));

    const answer = await testClient(app).get("/");

    expect(answer.cookies).toEqual(["a=1; Path=/; HttpOnly; Secure; SameSite=Lax"]);
  });

  overBoth(
    "are forgotten by clearCookie, at the path and domain they were set with",
    () =>
      answering((response) =>
        response.clearCookie("a").clearCookie("b", { path: "/shop", domain: "shop.example" }).text(""),
      ),
    async (client) => {
      const answer = await client.get("/");

      expect(answer.cookies).toEqual([
        "a=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
        "b=; Max-Age=0; Domain=shop.example; Path=/shop; HttpOnly; Secure; SameSite=Lax",
      ]);
    },
  );

  it.each([
    ["a name", (response: PorticoResponse) => response.cookie("a; Domain=evil.example", "1")],
    ["a path", (response: PorticoResponse) => response.cookie("a", "1", { path: "/; Domain=evil.example" })],
    ["a domain", (response: PorticoResponse) => response.cookie("a", "1", { domain: "a; Path=/" })],
  ])("do not take %s that would add attributes", async (_what, set) => {
    const answer = await testClient(answering((response) => set(response).text("never"))).get("/");

    expect([answer.status, answer.cookies]).toEqual([500, []]);
  });
});

describe("a redirect", () => {
  overBoth(
    "is 303 unless another status is set, and has no body",
    () =>
      quiet()
        .post("/a", ({ response }) => response.redirect("/books/1"))
        .get("/b", ({ response }) => response.redirect("https://shop.example/", 308)),
    async (client) => {
      const see = await client.post("/a");
      const moved = await client.get("/b");

      expect([see.status, see.headers["location"], see.text()]).toEqual([303, "/books/1", ""]);
      expect([moved.status, moved.headers["location"]]).toEqual([308, "https://shop.example/"]);
    },
  );

  it.each([
    ["what is encoded already", "/login?next=%2Fbooks%3Fpage%3D2&q=100%25", "/login?next=%2Fbooks%3Fpage%3D2&q=100%25"],
    ["characters that are not ASCII", "/café/✓?q=ü", "/caf%C3%A9/%E2%9C%93?q=%C3%BC"],
    ["a mixture of both", "/caf%C3%A9/café", "/caf%C3%A9/caf%C3%A9"],
    ["a percent sign that encodes nothing", "/100%/%zz", "/100%25/%25zz"],
    ["half a character", "/\ud83d", "/%EF%BF%BD"],
    ["spaces and quotes", '/a b"<c>', "/a%20b%22%3Cc%3E"],
    [
      "every delimiter of a URL",
      "https://[::1]:80/a;b?c=d&e=f,g+h@!$'()*#i~",
      "https://[::1]:80/a;b?c=d&e=f,g+h@!$'()*#i~",
    ],
    ["a backslash, which browsers read as a slash", "/\\evil.example", "/%5Cevil.example"],
  ])("keeps or encodes %s", async (_what, location, sent) => {
    const answer = await testClient(answering((response) => response.redirect(location))).get("/");

    expect([answer.status, answer.headers["location"]]).toEqual([303, sent]);
  });

  overBoth(
    "cannot be split by line breaks, raw or encoded",
    () => quiet().get("/", ({ response, query }) => response.redirect(`/to/${String(query["to"])}`)),
    async (client) => {
      const answer = await client.get("/", { query: { to: "a\r\nset-cookie: admin=1\r\n\r\n<html>" } });
      const encoded = await client.get("/", { query: { to: "a%0d%0aset-cookie: admin=1" } });

      expect([answer.status, answer.headers["location"]]).toEqual([400, undefined]);
      expect(encoded.headers["location"]).toBe("/to/a%0d%0aset-cookie:%20admin=1");
      expect([...answer.cookies, ...encoded.cookies]).toEqual([]);
    },
  );
});

overBoth(
  "text and html set their content type",
  () =>
    quiet()
      .get("/text", ({ response }) => response.text("né"))
      .get("/html", ({ response }) => response.html("<p>né"))
      .get("/empty", ({ response }) => response.empty()),
  async (client) => {
    const [text, html, empty] = [await client.get("/text"), await client.get("/html"), await client.get("/empty")];

    expect([text.headers["content-type"], text.text()]).toEqual(["text/plain; charset=utf-8", "né"]);
    expect([html.headers["content-type"], html.text()]).toEqual(["text/html; charset=utf-8", "<p>né"]);
    expect([empty.status, empty.headers["content-type"], empty.text()]).toEqual([204, undefined, ""]);
  },
);

describe("a stream", () => {
  const failing = (): Readable =>
    new Readable({
      read() {
        this.destroy(new Error("s3cret"));
      },
    });
  async function* chapters(): AsyncGenerator<string | Uint8Array> {
    yield "one, ";
    yield Buffer.from("two");
  }
  const web = (): ReadableStream =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("one, "));
        controller.enqueue(new TextEncoder().encode("two"));
        controller.close();
      },
    });

  overBoth(
    "is not needed for bytes that are all there: they have a length, and the type that was said",
    () =>
      quiet()
        .get("/picture", ({ response }) => response.bytes(Buffer.from([137, 80, 0, 255]), "image/png"))
        .get("/array", ({ response }) => response.status(203).bytes(new Uint8Array([0, 1, 2]).subarray(1)))
        .get("/nothing", ({ response }) => response.bytes(new Uint8Array())),
    async (client) => {
      const [picture, array, nothing] = [
        await client.get("/picture"),
        await client.get("/array"),
        await client.get("/nothing"),
      ];
      const head = await client.request("HEAD", "/picture");

      expect([...picture.bytes()]).toEqual([137, 80, 0, 255]);
      expect(picture.headers).toMatchObject({ "content-type": "image/png", "content-length": "4" });
      expect([array.status, [...array.bytes()], array.headers["content-type"]]).toEqual([
        203,
        [1, 2],
        "application/octet-stream",
      ]);
      expect([nothing.status, nothing.headers["content-length"]]).toEqual([200, "0"]);
      expect([head.headers["content-length"], head.text()]).toEqual(["4", ""]);
    },
  );

  overBoth(
    "comes from a Readable, a web stream or an async iterable",
    () =>
      quiet()
        .get("/node", ({ response }) => response.status(203).stream(Readable.from([Buffer.from("one, "), "two"])))
        .get("/web", ({ response }) => response.stream(web(), "text/plain"))
        .get("/iterable", ({ response }) => response.stream(chapters(), "text/plain")),
    async (client) => {
      const answers = await Promise.all(["/node", "/web", "/iterable"].map((path) => client.get(path)));

      expect(answers.map((answer) => answer.text())).toEqual(Array(3).fill("one, two"));
      expect(answers.map(({ status, headers }) => [status, headers["content-type"]])).toEqual([
        [203, "application/octet-stream"],
        [200, "text/plain"],
        [200, "text/plain"],
      ]);
    },
  );

  it("leaves piece by piece, before its source has ended", async () => {
    const second = Promise.withResolvers<void>();
    live = await liveClient(
      answering((response) =>
        response.stream(
          (async function* () {
            yield "first piece";
            await second.promise;
            yield "second piece";
          })(),
        ),
      ),
    );
    const connection = await rawConnection(live.port);
    connection.socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

    const early = await connection.until("first piece");
    second.resolve();
    await connection.closed;

    expect(early).not.toContain("second piece");
    expect(connection.received()).toContain("second piece");
  });

  it("that fails on its way closes the connection, so that the client does not take it for complete", async () => {
    live = await liveClient(
      answering((response) =>
        response.stream(
          (async function* () {
            yield "first piece";
            throw new Error("s3cret");
          })(),
        ),
      ),
    );
    const connection = await rawConnection(live.port);

    connection.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await connection.closed;

    expect(connection.received().toLowerCase()).toMatch(/transfer-encoding: chunked/i);
    expect(connection.received()).toContain("first piece");
    expect(connection.received()).not.toContain("\r\n0\r\n");
    expect(connection.received()).not.toContain("s3cret");
  });

  overBoth(
    "that fails before its first piece is a 500 problem without the headers and cookies of its handler",
    () =>
      quiet()
        .use(async (ctx, next) => {
          await next();
          if (ctx.kind === "http") ctx.response.header("x-outside", "1");
        })
        .get("/", ({ response }) =>
          response.cookie("a", "1").header("content-disposition", "attachment").stream(failing(), "text/csv"),
        ),
    async (client) => {
      const answer = await client.get("/");

      expect(answer.status).toBe(500);
      expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(answer.cookies).toEqual([]);
      expect(answer.headers["content-disposition"]).toBe(undefined);
      expect(answer.text()).not.toContain("s3cret");
    },
  );

  overBoth(
    "is not started for HEAD, and its source is closed",
    () => {
      const closed = Promise.withResolvers<void>();
      let isRead = false;
      return quiet()
        .get("/", ({ response }) => {
          const source = new Readable({
            read() {
              isRead = true;
              this.push("x");
              this.push(null);
            },
          });
          source.on("close", closed.resolve);
          return response.header("x-kind", "stream").stream(source, "text/plain");
        })
        .get("/state", async () => {
          await closed.promise;
          return isRead;
        });
    },
    async (client) => {
      const head = await client.request("HEAD", "/");

      expect([head.status, head.headers["content-type"], head.headers["x-kind"], head.text()]).toEqual([
        200,
        "text/plain",
        "stream",
        "",
      ]);
      expect((await client.get("/state")).json()).toBe(false);
    },
  );

  it("is closed when its client leaves", async () => {
    const closed = Promise.withResolvers<void>();
    live = await liveClient(
      answering((response) =>
        response.stream(
          (async function* () {
            try {
              for (;;) yield "x".repeat(10_000);
            } finally {
              closed.resolve();
            }
          })(),
        ),
      ),
    );
    const connection = await rawConnection(live.port);
    connection.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await connection.until("xxxx");

    connection.socket.destroy();

    await expect(closed.promise).resolves.toBe(undefined);
  });
});

describe("cache()", () => {
  overBoth(
    "sets how long and where the response may be cached, privately by default",
    () =>
      quiet()
        .get("/mine", ({ ctx }) => ctx.cache({ maxAge: 60 }))
        .get("/ours", ({ ctx }) => ctx.cache({ maxAge: 90.7, scope: "public" })),
    async (client) => {
      const answers = [await client.get("/mine"), await client.get("/ours")];

      expect(answers.map(({ headers }) => headers["cache-control"])).toEqual([
        "private, max-age=60",
        "public, max-age=90",
      ]);
    },
  );

  it("is taken back by an error", async () => {
    const app = quiet().get("/", ({ ctx }) => {
      ctx.cache({ maxAge: 60, scope: "public" });
      throw new Error("no");
    });

    expect((await testClient(app).get("/")).headers["cache-control"]).toBe("no-store");
  });
});

describe("a value that JSON cannot represent", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const values: readonly [string, () => unknown][] = [
    ["a cycle", () => cycle],
    ["a BigInt", () => ({ id: 1n })],
    [
      "a toJSON that throws",
      () => ({
        toJSON() {
          throw new Error("s3cret");
        },
      }),
    ],
  ];
  describe.each(values)("%s", (_what, value) => {
    overBoth(
      "is a 500 problem without the handler's headers",
      () =>
        quiet()
          .get("/sync", ({ response }) => response.status(201).cookie("a", "1").json(value()))
          .get("/async", async () => value()),
      async (client) => {
        const answers = [await client.get("/sync"), await client.get("/async")];

        for (const answer of answers) {
          expect(answer.status).toBe(500);
          expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
          expect(answer.cookies).toEqual([]);
          expect(answer.json()).toMatchObject({ code: "internal_server_error" });
          expect(answer.text()).not.toContain("s3cret");
        }
      },
    );
  });

  it.each([
    ["a function", () => () => 1],
    ["a symbol", () => Symbol("x")],
  ])("%s is null", async (_what, value) => {
    const answer = await testClient(answering(() => value())).get("/");

    expect([answer.status, answer.text()]).toEqual([200, "null"]);
  });
});
