import { AnonymousUser, PorticoApp, type PorticoAppOptions, type PorticoRequest } from "portico";
import { type LiveClient, liveClient, logCatcher, testClient } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";
import { rawConnection } from "../raw-connection.ts";

const quiet = (options: PorticoAppOptions = {}): PorticoApp => new PorticoApp({ logger: false, ...options });
/** An app whose one route gives what `read` reads of its request. */
const reading = (read: (request: PorticoRequest) => unknown, options: PorticoAppOptions = {}): PorticoApp =>
  quiet(options)
    .get("/*", ({ request }) => read(request))
    .post("/*", async ({ request }) => read(request));

let live: LiveClient | undefined;
afterEach(async () => {
  await live?.close();
  live = undefined;
});
/** One request, byte for byte, to a listening app; gives all that came back. */
async function exchange(app: PorticoApp, request: string): Promise<string> {
  live = await liveClient(app);
  const connection = await rawConnection(live.port);
  connection.socket.write(request);
  await connection.closed;
  return connection.received();
}

describe("headers", () => {
  overBoth(
    "have their names in lower case",
    () => reading(({ headers }) => [headers["x-shelf"], headers["x-none"] ?? "missing"]),
    async (client) => {
      const answer = await client.get("/", { headers: { "X-Shelf": "Two" } });

      expect(answer.json()).toEqual(["Two", "missing"]);
    },
  );

  it("sent several times are joined by commas", async () => {
    const app = reading(({ headers }) => headers["x-shelf"]);

    const answer = await exchange(
      app,
      "GET / HTTP/1.1\r\nHost: a\r\nX-Shelf: 1\r\nX-Shelf: 2\r\nConnection: close\r\n\r\n",
    );

    expect(answer).toContain('"1, 2"');
  });
});

describe("cookies", () => {
  overBoth(
    "are decoded, the first of a name counting",
    () => reading(({ cookies }) => ({ ...cookies })),
    async (client) => {
      const answer = await client.get("/", { headers: { cookie: "a=1; b=caf%C3%A9; a=2;c=; d=x=y" } });

      expect(answer.json()).toEqual({ a: "1", b: "café", c: "", d: "x=y" });
    },
  );

  overBoth(
    "may be malformed without harm",
    () => reading(({ cookies }) => ({ ...cookies })),
    async (client) => {
      const answer = await client.get("/", { headers: { cookie: "; ;=;novalue; bad=%E0%A4%A; good=1;;" } });

      expect(answer.status).toBe(200);
      expect(answer.json()).toMatchObject({ bad: "%E0%A4%A", good: "1" });
    },
  );

  overBoth(
    "named like members of an object are cookies and nothing else",
    () =>
      reading(({ cookies }) => ({
        names: Object.keys(cookies).toSorted(),
        proto: cookies["__proto__"],
        inherited: cookies["toString"] ?? "none",
        untouched: ({} as { polluted?: string }).polluted ?? "clean",
      })),
    async (client) => {
      const answer = await client.get("/", { headers: { cookie: "__proto__=polluted; constructor=c" } });

      expect(answer.json()).toEqual({
        names: ["__proto__", "constructor"],
        proto: "polluted",
        inherited: "none",
        untouched: "clean",
      });
    },
  );

  it("are none without the header", async () => {
    const answer = await testClient(reading(({ cookies }) => Object.keys(cookies))).get("/");

    expect(answer.json()).toEqual([]);
  });
});

describe("the body", () => {
  overBoth(
    "is read as JSON, of any type that ends in +json",
    () => reading((request) => request.json()),
    async (client) => {
      const send = (contentType: string) =>
        client.post("/", { headers: { "content-type": contentType }, body: '{"title":"Emma"}' });

      const answers = await Promise.all(
        [
          "application/json",
          "Application/JSON; charset=UTF-8",
          'application/json;charset="utf-8"',
          "application/vnd.api+json",
          "application/problem+json; charset=utf8",
        ].map(send),
      );

      expect(answers.map((answer) => answer.json())).toEqual(answers.map(() => ({ title: "Emma" })));
    },
  );

  overBoth(
    "is 415 as JSON for another content type or charset",
    () => reading((request) => request.json()),
    async (client) => {
      const send = (headers: Record<string, string>) => client.post("/", { headers, body: "{}" });

      const answers = await Promise.all(
        [
          {},
          { "content-type": "text/plain" },
          { "content-type": "text/json" },
          { "content-type": "application/json-seq" },
          { "content-type": "application/json; charset=latin1" },
          { "content-type": "application/json; charset=utf-16" },
        ].map((headers) => send(headers as Record<string, string>)),
      );

      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(415));
      expect(answers[4]?.json()).toMatchObject({
        code: "unsupported_media_type",
        detail: "The body must be application/json in UTF-8, but its Content-Type is application/json; charset=latin1",
      });
    },
  );

  overBoth(
    "is 400 as JSON if it is invalid",
    () => reading((request) => request.json()),
    async (client) => {
      const answer = await client.post("/", { headers: { "content-type": "application/json" }, body: '{"a":' });

      expect([answer.status, answer.json()]).toEqual([400, expect.objectContaining({ code: "body_not_json" })]);
    },
  );

  overBoth(
    "is read as text and as bytes, and returns the same again",
    () =>
      reading(async (request) => [
        await request.text(),
        [...(await request.bytes())],
        (await request.bytes()) === (await request.bytes()),
        await request.text(),
      ]),
    async (client) => {
      const answer = await client.post("/", { body: "né" });

      expect(answer.json()).toEqual(["né", [110, 195, 169], true, "né"]);
    },
  );

  overBoth(
    "is empty text when there is none",
    () => reading(async (request) => [await request.text(), (await request.bytes()).length]),
    async (client) => {
      expect((await client.post("/")).json()).toEqual(["", 0]);
    },
  );

  overBoth(
    "is read as an urlencoded form",
    () => reading(async (request) => [...(await request.form()).entries()]),
    async (client) => {
      const answer = await client.post("/", {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "title=Sense+%26+Sensibility&tag=a&tag=b&empty=",
      });

      expect(answer.json()).toEqual([
        ["title", "Sense & Sensibility"],
        ["tag", "a"],
        ["tag", "b"],
        ["empty", ""],
      ]);
    },
  );

  overBoth(
    "is read as a multipart form, files included",
    () =>
      reading(async (request) => {
        const form = await request.form();
        const cover = form.get("cover") as File;
        return { title: form.get("title"), file: [cover.name, cover.type, [...(await cover.bytes())]] };
      }),
    async (client) => {
      const form = new FormData();
      form.set("title", "Émile");
      form.set("cover", new File([new Uint8Array([0, 255, 13, 10])], "cover.png", { type: "image/png" }));
      const encoded = new Response(form);

      const answer = await client.post("/", {
        headers: { "content-type": encoded.headers.get("content-type") as string },
        body: await encoded.bytes(),
      });

      expect(answer.json()).toEqual({ title: "Émile", file: ["cover.png", "image/png", [0, 255, 13, 10]] });
    },
  );

  overBoth(
    "is read as a form of 1,000 fields, and is 413 with one more",
    () => reading(async (request) => [...(await request.form()).keys()].length),
    async (client) => {
      const send = async (count: number, type: string, field: string, end: string): Promise<unknown> =>
        (await client.post("/", { headers: { "content-type": type }, body: field.repeat(count) + end })).json();
      const urlencoded = (count: number): Promise<unknown> =>
        send(count - 1, "application/x-www-form-urlencoded", "a=b&", "a=b");
      const multipart = (count: number): Promise<unknown> =>
        send(
          count,
          "multipart/form-data; boundary=x",
          '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n',
          "--x--\r\n",
        );

      expect([await urlencoded(1_000), await multipart(1_000)]).toEqual([1_000, 1_000]);
      const tooLarge = { status: 413, code: "payload_too_large", detail: "The form has more than 1000 fields" };
      expect(await urlencoded(1_001)).toMatchObject(tooLarge);
      expect(await multipart(1_001)).toMatchObject(tooLarge);
    },
  );

  overBoth(
    "is 415 as a form for another content type, 400 if it cannot be parsed",
    () => reading((request) => request.form()),
    async (client) => {
      const json = await client.post("/", { body: {} });
      const broken = await client.post("/", {
        headers: { "content-type": "multipart/form-data; boundary=x" },
        body: "no parts at all",
      });

      expect([json.status, json.json()]).toEqual([415, expect.objectContaining({ code: "unsupported_media_type" })]);
      expect([broken.status, broken.json()]).toEqual([400, expect.objectContaining({ code: "body_not_form" })]);
    },
  );

  overBoth(
    "is read as a stream, beyond maxBody",
    () =>
      reading(
        async ({ stream }) => {
          let length = 0;
          for await (const chunk of stream) length += (chunk as Buffer).length;
          return length;
        },
        { maxBody: "1kb" },
      ),
    async (client) => {
      expect((await client.post("/", { body: "x".repeat(300_000) })).json()).toBe(300_000);
    },
  );

  it("that was read as a stream cannot be read again, which is logged but not sent to the client", async () => {
    const log = logCatcher();
    const app = reading(
      async (request) => {
        await request.stream.toArray();
        return request.json();
      },
      { logger: log },
    );

    const answer = await testClient(app).post("/", { body: {} });

    expect([answer.status, answer.json()]).toEqual([500, expect.objectContaining({ code: "internal_server_error" })]);
    expect(log.lines[0]?.msg).toContain("the body has already been read");
  });

  it("may be read by a middleware before the handler reads it", async () => {
    const app = reading((request) => request.json());
    const seen: string[] = [];
    app.use(async (ctx, next) => {
      seen.push(await ctx.request.text());
      await next();
    });

    const answer = await testClient(app).post("/", { body: { title: "Emma" } });

    expect(answer.json()).toEqual({ title: "Emma" });
    expect(seen).toEqual(['{"title":"Emma"}']);
  });
});

describe("address and url", () => {
  const where = (options: PorticoAppOptions = {}): PorticoApp =>
    reading(({ ip, url }) => ({ ip, url }), { ...options });
  const forwarded = {
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "shop.example",
  };
  async function seen(app: PorticoApp, headers: Record<string, string>): Promise<unknown> {
    live = await liveClient(app);
    return (await live.get("/books?page=2", { headers: { host: "inside.example", ...headers } })).json();
  }

  it("are those of the connection and the Host header", async () => {
    expect(await seen(where(), {})).toEqual({ ip: "127.0.0.1", url: "http://inside.example/books?page=2" });
  });

  it("[REQ-30] do not listen to X-Forwarded-* of a peer that is not trusted", async () => {
    const direct = { ip: "127.0.0.1", url: "http://inside.example/books?page=2" };

    expect(await seen(where(), forwarded)).toEqual(direct);
    await live?.close();
    expect(await seen(where({ trustedProxies: ["10.0.0.0/8"] }), forwarded)).toEqual(direct);
    expect(() => where({ trustedProxies: true as never })).toThrow("never true");
  });

  it.each(["127.0.0.1", "127.0.0.0/8", "loopback"])(
    "[REQ-30] listen to X-Forwarded-* of a trusted peer: %s",
    async (network) => {
      expect(await seen(where({ trustedProxies: [network] }), forwarded)).toEqual({
        ip: "203.0.113.9",
        url: "https://shop.example/books?page=2",
      });
    },
  );

  it("take the last address that no trusted proxy wrote: forged addresses before it are ignored", async () => {
    const app = where({ trustedProxies: ["loopback", "10.0.0.0/8"] });

    const answer = await seen(app, { ...forwarded, "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.1.2.3" });

    expect(answer).toMatchObject({ ip: "203.0.113.9" });
  });

  it("are built on publicUrl when there is one", async () => {
    const app = where({ publicUrl: "https://public.example/api/", trustedProxies: ["loopback"] });

    expect(await seen(app, forwarded)).toMatchObject({ url: "https://public.example/api/books?page=2" });
  });

  it("are well formed for a request that names the whole address, or no host at all", async () => {
    const whole = await exchange(
      where(),
      "GET http://other.example/books?page=2 HTTP/1.1\r\nHost: inside.example\r\nConnection: close\r\n\r\n",
    );
    await live?.close();
    const without = await exchange(where(), "GET /books HTTP/1.0\r\n\r\n");

    expect(whole).toContain('"url":"http://inside.example/books?page=2"');
    expect(without).toContain('"url":"http://localhost/books"');
  });
});

describe("the caller", () => {
  overBoth(
    "is anonymous without authentication, wherever it is read",
    () =>
      quiet().get("/", ({ request, user, ctx }) => {
        const users = [request.user, user, ctx.user, request.scope.user, ctx.scope.user];
        return {
          nobody: users.every((each) => each instanceof AnonymousUser && !each.isAuthenticated && each.identity === ""),
          may: user.hasPermission("read"),
          auth: request.scope.auth,
        };
      }),
    async (client) => {
      const answer = await client.get("/", { headers: { authorization: "Bearer whatever" } });

      expect(answer.json()).toEqual({ nobody: true, may: false, auth: null });
    },
  );
});

describe("the signal", () => {
  it("aborts when the client disconnects before its response", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const entered = Promise.withResolvers<void>();
    const app = quiet().get("/", async ({ request }) => {
      request.signal.addEventListener("abort", () => aborted.resolve(request.signal.reason));
      entered.resolve();
      await aborted.promise;
    });
    live = await liveClient(app);
    const connection = await rawConnection(live.port);
    connection.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered.promise;

    connection.socket.destroy();

    expect(await aborted.promise).toMatchObject({ name: "AbortError", message: "The client disconnected" });
  });

  it("that is first read after the client disconnected is already aborted", async () => {
    const left = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const state = Promise.withResolvers<boolean>();
    const app = quiet().get("/", async ({ request }) => {
      entered.resolve();
      await left.promise;
      state.resolve(request.signal.aborted);
    });
    live = await liveClient(app);
    const closed = Promise.withResolvers<void>();
    app.engine.server.on("connection", (socket) => socket.on("close", () => closed.resolve()));
    const connection = await rawConnection(live.port);
    connection.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered.promise;

    connection.socket.destroy();
    await closed.promise;
    left.resolve();

    expect(await state.promise).toBe(true);
  });

  overBoth(
    "does not abort after the response was read",
    () => {
      let last: AbortSignal | undefined;
      return quiet().get("/", ({ request }) => {
        const before = last?.aborted ?? "first";
        last = request.signal;
        return before;
      });
    },
    async (client) => {
      await client.get("/");

      expect((await client.get("/")).json()).toBe(false);
    },
  );
});
