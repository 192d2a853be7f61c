import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import { ConfigurationError, PorticoApp, Router, WebSocketContext } from "portico";
import { logCatcher, testClient } from "portico/testing";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

describe("methods", () => {
  const declare = (): PorticoApp =>
    quiet()
      .get("/thing", ({ request }) => request.method)
      .post("/thing", ({ request }) => request.method)
      .put("/thing", ({ request }) => request.method)
      .patch("/thing", ({ request }) => request.method)
      .delete("/thing", ({ request }) => request.method)
      .options("/thing", ({ request }) => request.method);

  overBoth("each method has its own handler", declare, async (client) => {
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

    const answers = await Promise.all(methods.map((method) => client.request(method, "/thing")));

    expect(answers.map((answer) => answer.json())).toEqual(methods);
  });

  overBoth(
    "HEAD of a GET route has its status and headers, and no body",
    () => quiet().get("/books", ({ response }) => response.header("x-count", "2").json(["Emma", "Persuasion"])),
    async (client) => {
      const whole = await client.get("/books");

      const head = await client.request("HEAD", "/books");

      expect(head.status).toBe(200);
      expect(head.headers).toMatchObject({
        "x-count": "2",
        "content-type": "application/json; charset=utf-8",
        "content-length": whole.headers["content-length"],
      });
      expect(head.text()).toBe("");
    },
  );

  overBoth(
    "a path without a route is a 404 problem",
    () => quiet().get("/books", () => []),
    async (client) => {
      const answer = await client.get("/boats");

      expect(answer.status).toBe(404);
      expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(answer.json()).toEqual({
        type: "about:blank",
        title: "Not Found",
        status: 404,
        detail: "Not found",
        code: "not_found",
      });
    },
  );

  overBoth(
    "a path with other methods is a 405 problem that lists them",
    () =>
      quiet()
        .get("/books/:id", () => 1)
        .delete("/books/:id", () => 1)
        .post("/books", () => 1),
    async (client) => {
      const answer = await client.put("/books/7");

      expect(answer.status).toBe(405);
      expect(answer.headers["allow"]).toBe("GET, DELETE, HEAD");
      expect(answer.json()).toMatchObject({ status: 405, code: "method_not_allowed" });
    },
  );

  overBoth(
    "an unknown path or method is rejected before the body is read",
    () => quiet().get("/books", () => []),
    async (client) => {
      const json = { headers: { "content-type": "application/json" }, body: "{ no json" };

      const answers = [await client.post("/boats", json), await client.post("/books", json)];

      expect(answers.map((answer) => answer.status)).toEqual([404, 405]);
      expect(answers.map((answer) => answer.headers["content-type"])).toEqual(
        Array(2).fill("application/problem+json; charset=utf-8"),
      );
    },
  );

  overBoth(
    "OPTIONS of a path that has no such route says which methods there are",
    () =>
      quiet()
        .get("/books", () => [])
        .post("/books", () => 1),
    async (client) => {
      const answer = await client.request("OPTIONS", "/books");

      expect(answer.status).toBe(204);
      expect(answer.headers["allow"]).toBe("GET, POST, HEAD, OPTIONS");
    },
  );

  it("OPTIONS of a path without any route is 404", async () => {
    const answer = await testClient(quiet().get("/books", () => [])).request("OPTIONS", "/boats");

    expect(answer.status).toBe(404);
  });
});

describe("the return value of a handler", () => {
  overBoth(
    "becomes JSON, whatever it is",
    () =>
      quiet()
        .get("/object", () => ({ title: "Emma" }))
        .get("/promise", async () => [1, 2])
        .get("/string", () => "Emma")
        .get("/number", () => 0)
        .get("/null", () => null)
        .get("/false", () => false),
    async (client) => {
      const paths = ["/object", "/promise", "/string", "/number", "/null", "/false"];

      const answers = await Promise.all(paths.map((path) => client.get(path)));

      expect(answers.map((answer) => answer.text())).toEqual([
        '{"title":"Emma"}',
        "[1,2]",
        '"Emma"',
        "0",
        "null",
        "false",
      ]);
      for (const { status, headers } of answers) {
        expect(status).toBe(200);
        expect(headers["content-type"]).toBe("application/json; charset=utf-8");
      }
    },
  );

  overBoth(
    "is 204 when it is nothing",
    () => quiet().delete("/books/:id", () => {}),
    async (client) => {
      const answer = await client.delete("/books/1");

      expect(answer.status).toBe(204);
      expect(answer.text()).toBe("");
      expect(answer.headers["content-type"]).toBe(undefined);
    },
  );

  overBoth(
    "is sent as it is when it is a response",
    () =>
      quiet()
        .get("/text", ({ response }) => response.status(202).text("plain"))
        .get("/bare", ({ response }) => response.status(201)),
    async (client) => {
      const text = await client.get("/text");
      const bare = await client.get("/bare");

      expect([text.status, text.text(), text.headers["content-type"]]).toEqual([
        202,
        "plain",
        "text/plain; charset=utf-8",
      ]);
      expect([bare.status, bare.text()]).toEqual([201, ""]);
    },
  );

  it("is the response as it was set, even if the handler does not return it", async () => {
    const app = quiet().get("/", ({ response }) => {
      response.status(201).json({ made: true });
    });

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.json()]).toEqual([201, { made: true }]);
  });
});

describe("path parameters", () => {
  overBoth(
    "are decoded, a slash in one included",
    () => quiet().get("/shops/:shop/books/:id", ({ path, request }) => ({ ...path, same: request.params === path })),
    async (client) => {
      const answer = await client.get("/shops/caf%C3%A9%20noir/books/a%2Fb");

      expect(answer.json()).toEqual({ shop: "café noir", id: "a/b", same: true });
    },
  );

  overBoth(
    "may be the rest of the path, or left out at its end",
    () =>
      quiet()
        .get("/files/*", ({ path }) => path["*"])
        .get("/years/:year?", ({ path }) => path.year ?? "all"),
    async (client) => {
      const paths = ["/files/a/b.txt", "/years/1815", "/years"];

      const answers = await Promise.all(paths.map((path) => client.get(path)));

      expect(answers.map((answer) => answer.json())).toEqual(["a/b.txt", "1815", "all"]);
    },
  );

  it("may be bound to a pattern", async () => {
    const app = quiet().get("/books/:id(^\\d+$)", ({ path }) => path.id);

    const answers = [await testClient(app).get("/books/12"), await testClient(app).get("/books/emma")];

    expect(answers.map((answer) => answer.status)).toEqual([200, 404]);
  });

  it("give way to a literal path, whichever was declared first", async () => {
    const app = quiet()
      .get("/books/:id", ({ path }) => path.id)
      .get("/books/new", () => "the form");

    expect((await testClient(app).get("/books/new")).json()).toBe("the form");
  });
});

overBoth(
  "a slash at the end makes no difference",
  () =>
    quiet()
      .get("/books", () => "without")
      .get("/boats/", () => "with"),
  async (client) => {
    const answers = await Promise.all(["/books", "/books/", "/boats", "/boats/"].map((path) => client.get(path)));

    expect(answers.map((answer) => answer.json())).toEqual(["without", "without", "with", "with"]);
  },
);

overBoth(
  "a repeated query parameter is a list, a single one a string",
  () => quiet().get("/books", ({ query, request }) => ({ query, same: request.query === query })),
  async (client) => {
    const answer = await client.get("/books?tag=a&tag=b%20c&page=2&empty=&__proto__=x");

    expect(answer.text()).toBe('{"query":{"tag":["a","b c"],"page":"2","empty":"","__proto__":"x"},"same":true}');
  },
);

describe.each([
  [
    "zod",
    z.object({ id: z.coerce.number<string>() }),
    z.object({ page: z.coerce.number<string>().default(1), tag: z.string().optional() }),
    z.object({ title: z.string(), published: z.coerce.date<string>() }),
  ],
  [
    "valibot",
    v.object({ id: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number)) }),
    v.object({
      page: v.optional(v.pipe(v.string(), v.transform(Number), v.number()), "1"),
      tag: v.optional(v.string()),
    }),
    v.object({
      title: v.string(),
      published: v.pipe(
        v.string(),
        v.isoDate(),
        v.transform((text) => new Date(text)),
      ),
    }),
  ],
  [
    "arktype",
    type({ id: "string.integer.parse" }),
    type({ page: type("string.integer.parse").default("1"), "tag?": "string" }),
    type({ title: "string", published: "string.date.parse" }),
  ],
] as const)("schemas of %s", (_name, path, query, body) => {
  const declare = (): PorticoApp =>
    quiet().post("/books/:id", { path, query, body }, ({ path, query, body, request }) => ({
      id: path.id,
      page: query.page,
      title: body.title,
      year: body.published.getFullYear(),
      onRequest: request.params === path && request.query === query && request.body === body,
    }));
  const good = { title: "Emma", published: "1815-12-23" };

  overBoth("pass their output for path, query and body to the handler", declare, async (client) => {
    const answer = await client.post("/books/7?page=3", { body: good });
    const byDefault = await client.post("/books/7", { body: good });

    expect(answer.json()).toEqual({ id: 7, page: 3, title: "Emma", year: 1815, onRequest: true });
    expect(byDefault.json()).toMatchObject({ page: 1 });
  });

  overBoth("reject an invalid value with 422 and its path", declare, async (client) => {
    const answers = [
      await client.post("/books/seven", { body: good }),
      await client.post("/books/7?tag=a&tag=b", { body: good }),
      await client.post("/books/7", { body: { title: 7, published: "1815-12-23" } }),
    ];

    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(answer.json()).toMatchObject({ code: "validation_failed", status: 422 });
    }
    expect(answers.map((answer) => (answer.json() as { errors: unknown }).errors)).toEqual([
      [{ in: "path", path: ["id"], message: expect.any(String) }],
      [{ in: "query", path: ["tag"], message: expect.any(String) }],
      [{ in: "body", path: ["title"], message: expect.any(String) }],
    ]);
  });
});

describe("a schema", () => {
  it("is applied to the path first, then the query, then the body, and the first rejection is sent", async () => {
    const app = quiet().post(
      "/books/:id",
      {
        path: z.object({ id: z.coerce.number<string>() }),
        query: z.object({ page: z.coerce.number<string>() }),
        body: z.object({ title: z.string() }),
      },
      () => "never",
    );
    const refused = async (target: string): Promise<unknown> =>
      (await testClient(app).post(target, { body: {} })).json();

    expect(await refused("/books/x?page=y")).toMatchObject({ detail: "The path does not match its schema" });
    expect(await refused("/books/1?page=y")).toMatchObject({ detail: "The query does not match its schema" });
    expect(await refused("/books/1?page=1")).toMatchObject({ detail: "The body does not match its schema" });
  });

  it("may be asynchronous, on every side", async () => {
    const later = z.string().refine(async (text) => text === "good", "not good");
    const app = quiet().post("/", { body: later, response: later }, ({ body }) => body);

    const answers = [
      await testClient(app).post("/", { headers: { "content-type": "application/json" }, body: '"good"' }),
      await testClient(app).post("/", { headers: { "content-type": "application/json" }, body: '"bad"' }),
    ];

    expect(answers.map((answer) => answer.status)).toEqual([200, 422]);
    expect(answers[1]?.json()).toMatchObject({ errors: [{ in: "body", path: [], message: "not good" }] });
  });

  it("names the place of a fault inside lists by number", async () => {
    const app = quiet().post("/", { body: z.object({ tags: z.array(z.string()) }) }, () => "never");

    const answer = await testClient(app).post("/", { body: { tags: ["a", 1] } });

    expect(answer.json()).toMatchObject({ errors: [{ in: "body", path: ["tags", 1] }] });
  });

  it("of the body asks for JSON: anything else is 415, 400 when it is not JSON", async () => {
    const app = quiet().post("/", { body: z.object({}) }, () => "taken");
    const send = async (contentType: string, body: string): Promise<number> =>
      (await testClient(app).post("/", { headers: { "content-type": contentType }, body })).status;

    expect(await send("application/json", "{}")).toBe(200);
    expect(await send("text/plain", "{}")).toBe(415);
    expect(await send("application/json", "{")).toBe(400);
    expect(await send("application/json", "")).toBe(400);
  });

  const Filter = z.object({ author: z.string().optional() });
  overBoth(
    "of the body may take undefined: then the body may be left out, and a form still cannot be sent",
    () =>
      quiet()
        .post("/optional", { body: Filter.optional() }, ({ body }) => ({ body: body ?? "none" }))
        .post("/default", { body: Filter.default({ author: "Austen" }) }, ({ body }) => ({ body }))
        .post("/later", { body: Filter.optional().refine(() => Promise.resolve(true)) }, () => "taken")
        .post("/needed", { body: Filter }, () => "taken")
        .post("/strange", { body: z.preprocess((value) => (value as string).trim(), z.any()) }, () => "taken"),
    async (client) => {
      const send = async (path: string, contentType?: string, body?: string) =>
        client.post(path, {
          ...(contentType === undefined ? {} : { headers: { "content-type": contentType } }),
          ...(body === undefined ? {} : { body }),
        });
      const statuses = async (path: string) =>
        [
          await send(path),
          await send(path, "application/json"),
          await send(path, "application/json", ""),
          await send(path, "application/x-www-form-urlencoded", ""),
          await send(path, "text/plain"),
          await send(path, "application/json", "{"),
        ].map(({ status }) => status);

      expect((await send("/optional")).json()).toEqual({ body: "none" });
      expect((await send("/default", "application/json", "")).json()).toEqual({ body: { author: "Austen" } });
      expect(await statuses("/optional")).toEqual([200, 200, 200, 415, 415, 400]);
      expect(await statuses("/later")).toEqual([200, 200, 200, 415, 415, 400]);
      expect(await statuses("/needed")).toEqual([415, 400, 400, 415, 415, 400]);
      expect(await statuses("/strange")).toEqual([415, 400, 400, 415, 415, 400]);
    },
  );

  it("of the body is not required in the OpenAPI document where it takes undefined", () => {
    const app = quiet()
      .post("/optional", { body: Filter.optional() }, () => "taken")
      .post("/needed", { body: Filter }, () => "taken");

    const { paths } = app.openapi();

    expect(paths["/optional"]?.post?.requestBody).not.toHaveProperty("required");
    expect(paths["/needed"]?.post?.requestBody).toHaveProperty("required", true);
  });
});

describe("the response schema", () => {
  const Book = z.object({ id: z.number(), title: z.string().transform((title) => title.trim()) });

  overBoth(
    "determines what is sent: an unknown property is dropped, a value is transformed",
    () =>
      quiet()
        .get("/plain", { response: Book }, () => {
          const row = { id: 1, title: " Emma ", secret: "s3cret" };
          return row;
        })
        .get("/response", { response: Book }, ({ response }) => {
          const row = { id: 2, title: " Persuasion ", secret: "s3cret" };
          return response.status(201).json(row);
        }),
    async (client) => {
      const plain = await client.get("/plain");
      const made = await client.get("/response");

      expect([plain.status, plain.text()]).toEqual([200, '{"id":1,"title":"Emma"}']);
      expect([made.status, made.text()]).toEqual([201, '{"id":2,"title":"Persuasion"}']);
    },
  );

  it("turns an invalid response into a 500 without details, and logs the details", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/", { response: Book }, ({ response }) => {
      response.cookie("half", "done");
      return { id: "s3cret" as unknown as number, title: "Emma" };
    });

    const answer = await testClient(app).get("/");

    expect(answer.status).toBe(500);
    expect(answer.cookies).toEqual([]);
    expect(answer.json()).toEqual({
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "An unexpected error occurred",
      code: "internal_server_error",
      correlation_id: expect.any(String),
    });
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatchObject({
      level: "error",
      code: "RESPONSE_INVALID",
      msg: expect.stringContaining("does not match its schema"),
    });
  });

  it.each([
    [{ id: 1, title: 7 }, "title: "],
    [{ id: 1, title: "Emma", authors: [{ name: "Austen" }, { name: null }] }, "authors.1.name: "],
    ["no object", "does not match its schema: Invalid"],
  ])("says in the log where %j does not fit", async (value, place) => {
    const log = logCatcher();
    const Authors = z.array(z.object({ name: z.string() })).optional();
    const response = Book.extend({ authors: Authors });
    const app = new PorticoApp({ logger: log }).get("/", { response }, () => value as never);

    await testClient(app).get("/");

    expect(log.lines[0]?.msg).toContain(place);
  });

  it("says in the log which item of a page does not fit, and where", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get(
      "/",
      { paginated: { strategy: "page_number", item: Book } },
      ({ response }) => response.paginate([{ id: 1, title: "Emma" }, { id: 2 } as never]),
    );

    await testClient(app).get("/");

    expect(log.lines.at(-1)?.msg).toContain("an item does not match its schema: items.1.title: ");
  });

  it("may differ by status", async () => {
    const app = quiet().post(
      "/:id",
      { response: { 200: z.object({ found: z.string() }), 202: z.object({ queued: z.number() }) } },
      ({ path, response }) =>
        path.id === "1" ? { found: "yes", extra: 1 } : response.status(202).json({ queued: 4, extra: 1 }),
    );

    const answers = [await testClient(app).post("/1"), await testClient(app).post("/2")];

    expect(answers.map((answer) => [answer.status, answer.json()])).toEqual([
      [200, { found: "yes" }],
      [202, { queued: 4 }],
    ]);
  });

  it("per status turns an undeclared status into a 500, except for an empty response", async () => {
    const app = quiet()
      .get("/undeclared", { response: { 200: Book } }, (({ response }: { response: { status(n: number): any } }) =>
        response.status(201).json({ id: 1, title: "Emma" })) as never)
      .get("/redirected", { response: { 200: Book } }, ({ response }) => response.redirect("/elsewhere") as never);

    const answers = [await testClient(app).get("/undeclared"), await testClient(app).get("/redirected")];

    expect(answers.map((answer) => answer.status)).toEqual([500, 303]);
  });

  it("per status is null for no body: a body is then a 500", async () => {
    const app = quiet()
      .delete("/empty", { response: { 200: Book, 204: null } }, ({ response }) => response.empty())
      .delete("/nothing", { response: { 204: null } }, () => undefined)
      .delete("/accepted", { response: { 202: null } }, ({ response }) => response.status(202).empty())
      .delete("/body", { response: { 202: null } }, (({ response }: { response: { status(n: number): any } }) =>
        response.status(202).json({ id: 1 })) as never);
    const client = testClient(app);

    const answers = [await client.delete("/empty"), await client.delete("/nothing"), await client.delete("/accepted")];

    expect(answers.map((answer) => [answer.status, answer.text()])).toEqual([
      [204, ""],
      [204, ""],
      [202, ""],
    ]);
    expect((await client.delete("/body")).status).toBe(500);
  });

  it.each([
    ["text", (response: any) => response.text("Emma")],
    ["nothing", () => undefined],
  ])("is not satisfied by %s", async (_what, make) => {
    const app = quiet().get("/", { response: Book }, (({ response }: { response: unknown }) =>
      make(response)) as never);

    expect((await testClient(app).get("/")).status).toBe(500);
  });

  it("does not apply to error responses", async () => {
    const app = quiet().get("/", { response: Book }, () => {
      throw new RangeError("no");
    });
    app.addExceptionHandler(RangeError, (_request, response) => response.status(416).json({ out: "of range" }));

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.json()]).toEqual([416, { out: "of range" }]);
  });
});

overBoth(
  "maxBody holds per route, and by default for the app",
  () =>
    new PorticoApp({ logger: false, maxBody: 10 })
      .post("/small", async ({ request }) => (await request.text()).length)
      .post("/large", { maxBody: "1kb" }, async ({ request }) => (await request.text()).length),
  async (client) => {
    const send = (path: string, length: number) => client.post(path, { body: "x".repeat(length) });

    const answers = [
      await send("/small", 10),
      await send("/small", 11),
      await send("/large", 1024),
      await send("/large", 1025),
    ];

    expect(answers.map((answer) => answer.status)).toEqual([200, 413, 200, 413]);
    expect(answers[3]?.json()).toMatchObject({
      code: "payload_too_large",
      detail: "The body is larger than 1024 bytes",
    });
  },
);

it("maxBody holds to the byte for a body whose length is not announced", async () => {
  const app = quiet().post("/", { maxBody: 10 }, async ({ request }) => (await request.text()).length);
  const send = async (...chunks: readonly string[]): Promise<number> =>
    (await app.inject({ method: "POST", url: "/", body: Readable.from(chunks.map((chunk) => Buffer.from(chunk))) }))
      .status;

  expect(await send("12345", "67890")).toBe(200);
  expect(await send("12345", "67890", "1")).toBe(413);
});

describe("a declaration", () => {
  it("must come before the first request: later it is rejected", async () => {
    const router = new Router();
    const app = quiet().mount("/api", router);
    await app.inject("/");

    for (const declare of [
      () => app.get("/late", () => 1),
      () => app.socket("/late", () => {}),
      () => app.use((_ctx, next) => next()),
      () => app.mount("/late", new Router()),
      () => router.get("/late", () => 1),
    ]) {
      expect(declare).toThrow(ConfigurationError);
      expect(declare).toThrow(
        "Router has already started: declare routes, middleware and mounts before the first request",
      );
    }
  });

  // What the checker refuses, and plain JavaScript does not.
  const faults: readonly [fault: string, declare: (app: any) => unknown, option: string, sentence: string][] = [
    [
      "a misspelt option",
      (app) => app.get("/books", { atuh: {} }, () => 1),
      "GET /books.atuh",
      'GET /books: unknown option "atuh". Did you mean "auth"?',
    ],
    [
      "an option of no resemblance",
      (app) => app.get("/books", { colour: "red" }, () => 1),
      "GET /books.colour",
      'GET /books: unknown option "colour". The options are auth, params, body',
    ],
    [
      "a gate that is undefined",
      (app) => app.get("/books", { auth: undefined }, () => 1),
      "GET /books.auth",
      "GET /books.auth must be true, false, a function of the user that returns true or false, or a gate from useAuth(), rule(), every(), some() or not(), received undefined",
    ],
    [
      "a gate that is none",
      (app) => app.get("/books", { auth: "jwt" as never }, () => 1),
      "GET /books.auth",
      "GET /books.auth must be true",
    ],
    [
      "a path without a slash",
      (app) => app.get("books", () => 1),
      "GET books: the path",
      'GET books: the path must be a string that begins with "/", received "books"',
    ],
    [
      "a path without a slash below a prefix",
      () => new Router({ prefix: "/api" }).get("books", () => 1),
      "GET books: the path",
      'must be a string that begins with "/"',
    ],
    [
      "a path that is not a string",
      (app) => app.get(7, () => 1),
      "GET 7: the path",
      'GET 7: the path must be a string that begins with "/", received 7',
    ],
    [
      "a missing handler",
      (app) => app.put("/books"),
      "PUT /books: the handler",
      "PUT /books: the handler must be a function, received undefined",
    ],
    [
      "options without a handler",
      (app) => app.put("/books", { summary: "Puts" }),
      "PUT /books: the handler",
      "PUT /books: the handler must be a function, received an object (Object)",
    ],
    [
      "a handler that is not a function",
      (app) => app.patch("/books", {}, "handler"),
      "PATCH /books: the handler",
      'PATCH /books: the handler must be a function, received "handler"',
    ],
    [
      "options that are not an object",
      (app) => app.get("/books", null, () => 1),
      "GET /books options",
      "GET /books options must be an object, received null",
    ],
    [
      "an invalid body schema",
      (app) => app.post("/books", { body: { title: "string" } }, () => 1),
      "POST /books.body",
      "POST /books.body must be a Standard Schema, such as one of zod, valibot or arktype, received an object (Object)",
    ],
    [
      "an invalid query schema",
      (app) => app.get("/books", { query: "page" }, () => 1),
      "GET /books.query",
      "GET /books.query must be a Standard Schema",
    ],
    [
      "an invalid path schema",
      (app) => app.get("/books/:id", { path: Number }, () => 1),
      "GET /books/:id.path",
      "GET /books/:id.path must be a Standard Schema",
    ],
    [
      "an invalid response schema",
      (app) => app.get("/books", { response: {} }, () => 1),
      "GET /books.response",
      "GET /books.response must be a Standard Schema, or one per status from 200 to 599",
    ],
    [
      "a response schema under a status that there is not",
      (app) => app.get("/books", { response: { 700: z.string() } }, () => 1),
      "GET /books.response",
      "or one per status from 200 to 599",
    ],
    [
      "errors under a status that is not one of an error",
      (app) => app.get("/books", { errors: { 200: "fine" } }, () => 1),
      "GET /books.errors",
      "GET /books.errors must be an object of descriptions by status from 400 to 599",
    ],
    [
      "a body schema where no body is read",
      (app) => app.get("/books", { body: z.object({}) }, () => 1),
      "GET /books.body",
      "GET /books.body is not supported for this method",
    ],
    [
      "middleware that is not a list",
      (app) => app.get("/books", { middleware: () => {} }, () => 1),
      "GET /books.middleware",
      "GET /books.middleware must be a list of middleware",
    ],
    [
      "an invalid middleware",
      (app) => app.get("/books", { middleware: [{ run: () => {} }] }, () => 1),
      "GET /books: a middleware",
      "GET /books: a middleware must be a function (ctx, next), or an object with handle(ctx, next)",
    ],
    [
      "a parameter under a name that handlers have",
      (app) => app.get("/books", { params: { body: WebSocketContext } }, () => 1),
      "GET /books: the parameter body",
      "GET /books: the parameter body is a name that every handler already has: choose another one",
    ],
    [
      "a parameter that is neither dependency nor context",
      (app) => app.get("/books", { params: { db: () => 1 } }, () => 1),
      "GET /books: the parameter db",
      "GET /books: the parameter db must be Depend(...) or a context class",
    ],
    [
      "the context of a socket",
      (app) => app.get("/books", { params: { ws: WebSocketContext } }, () => 1),
      "GET /books: the parameter ws",
      "GET /books: the parameter ws is declared as WebSocketContext, which is not available in this route",
    ],
    [
      "a size without a unit that is known",
      (app) => app.post("/books", { maxBody: "2 megabytes" }, () => 1),
      "POST /books.maxBody",
      'POST /books.maxBody must be a size such as "512kb" or "2mb"',
    ],
    [
      "a time that is negative",
      (app) => app.get("/books", { timeoutSeconds: -1 }, () => 1),
      "GET /books.timeoutSeconds",
      "GET /books.timeoutSeconds must be a number of seconds from 0 to 2,147,483, received -1",
    ],
    [
      "tags that are not a list of strings",
      (app) => app.get("/books", { tags: [1] }, () => 1),
      "GET /books.tags",
      "GET /books.tags must be a list of strings",
    ],
    [
      "a flag that is not a boolean",
      (app) => app.get("/books", { openapi: "no" }, () => 1),
      "GET /books.openapi",
      "GET /books.openapi must be true or false",
    ],
    [
      "a socket's path without a slash",
      (app) => app.socket("chat", () => {}),
      "socket chat: the path",
      'socket chat: the path must be a string that begins with "/"',
    ],
    [
      "a misspelt option of a socket",
      (app) => app.socket("/chat", { pingSecond: 1 }, () => {}),
      "socket /chat.pingSecond",
      'socket /chat: unknown option "pingSecond". Did you mean "pingSeconds"?',
    ],
  ];
  it.each(faults)("with %s names the route and the fault", (_fault, declare, option, sentence) => {
    const act = (): unknown => declare(quiet());

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(sentence);
    expect(act).toThrow(expect.objectContaining({ option, code: "CONFIGURATION_INVALID" }));
  });

  it("does not write to the options it was given, and may share them", async () => {
    const options = Object.freeze({ summary: "A list", tags: Object.freeze(["books"]) });
    const app = quiet()
      .get("/a", options, () => "a")
      .get("/b", options, () => "b");

    expect((await testClient(app).get("/b")).json()).toBe("b");
  });
});

describe("a thenable that is not a promise, such as a query builder", () => {
  /** Its `then` returns nothing. */
  function thenable<T>(promise: Promise<T>): Promise<T> {
    const later = {
      // oxlint-disable-next-line unicorn/no-thenable
      then: (resolve: (value: T) => void, reject: (error: unknown) => void): void => void promise.then(resolve, reject),
    };
    return later as unknown as Promise<T>;
  }
  function schemaOf(validate: (value: unknown) => Promise<{ readonly value: unknown }>): StandardSchemaV1 {
    return { "~standard": { version: 1, vendor: "test", validate } };
  }

  overBoth(
    "is awaited in a handler, a middleware and a schema",
    () =>
      quiet()
        .use((_ctx, next) => thenable(next()))
        .get("/handler", () => thenable(sleep(1, "handled")))
        .post("/schema", { body: schemaOf((value) => thenable(sleep(1, { value }))) }, ({ body }) => body),
    async (client) => {
      const handled = await client.get("/handler");
      const validated = await client.post("/schema", { body: { a: 1 } });

      expect([handled.status, handled.json()]).toEqual([200, "handled"]);
      expect([validated.status, validated.json()]).toEqual([200, { a: 1 }]);
    },
  );
});
