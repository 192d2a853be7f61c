import {
  BadRequest,
  BodyIncomplete,
  BodyNotForm,
  BodyNotJSON,
  ConfigurationError,
  Conflict,
  HttpException,
  MethodNotAllowed,
  NotFound,
  OriginRefused,
  PayloadTooLarge,
  PorticoApp,
  type PorticoAppOptions,
  PorticoError,
  ServiceUnavailable,
  TooManyRequests,
  UnsupportedMediaType,
} from "portico";
import { AuthenticationFailed, PermissionDenied } from "portico/auth";
import { PageNumberPagination } from "portico/pagination";
import { type LogCatcher, logCatcher, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });
const throwing = (app: PorticoApp, error: unknown): PorticoApp =>
  app
    .get("/sync", () => {
      throw error;
    })
    .get("/async", async () => {
      throw error;
    });
async function thrown(
  error: unknown,
  {
    headers = {},
    path = "/sync",
    ...options
  }: PorticoAppOptions & { headers?: Record<string, string>; path?: string } = {},
): Promise<{ answer: TestResponse; log: LogCatcher }> {
  const log = logCatcher();
  const app = throwing(new PorticoApp({ logger: log, ...options }), error);
  return { answer: await testClient(app).get(path, { headers }), log };
}

const noop = (): void => {};
class Late extends Error {}
class VeryLate extends Late {}
class Other extends Error {}

describe("an exception handler", () => {
  overBoth(
    "is the one of the nearest class",
    () =>
      quiet()
        .get("/late", () => {
          throw new Late();
        })
        .get("/very-late", async () => {
          throw new VeryLate();
        })
        .get("/other", () => {
          throw new Other();
        })
        .get("/below", () => {
          throw new (class extends VeryLate {})();
        })
        .addExceptionHandler(Error, () => "error")
        .addExceptionHandler(VeryLate, () => "very late")
        .addExceptionHandler(Late, () => "late"),
    async (client) => {
      const paths = ["/late", "/very-late", "/other", "/below", "/no/route"];

      const answers = await Promise.all(paths.map((path) => client.get(path)));

      expect(answers.map((answer) => answer.json())).toEqual(["late", "very late", "error", "very late", "error"]);
    },
  );

  it("of Error takes errors whose class does not extend it, such as DOMException", async () => {
    const app = throwing(quiet(), new DOMException("gone", "AbortError"));
    app.addExceptionHandler(Error, (_request, response, exc) => response.status(499).json(exc.name));

    const answer = await testClient(app).get("/sync");

    expect([answer.status, answer.json()]).toEqual([499, "AbortError"]);
  });

  overBoth(
    "has the request, a fresh response and the error, and may be asynchronous",
    () =>
      quiet()
        .post("/orders/:id", ({ response }) => {
          response.status(201).cookie("cart", "full");
          throw new Late("too late");
        })
        .addExceptionHandler(Late, async (request, response, exc) => {
          await Promise.resolve();
          return response
            .status(409)
            .header("x-path", request.url.replace(/^.*?:\/\/[^/]*/, ""))
            .json({
              sentence: exc.message,
              id: request.params["id"],
            });
        }),
    async (client) => {
      const answer = await client.post("/orders/7");

      expect([answer.status, answer.json()]).toEqual([409, { sentence: "too late", id: "7" }]);
      expect(answer.headers["x-path"]).toBe("/orders/7");
      expect(answer.cookies).toEqual([]);
    },
  );

  it("logs nothing by itself: the error was expected", async () => {
    const log = logCatcher();
    const app = throwing(new PorticoApp({ logger: log }), new Late());
    app.addExceptionHandler(Late, () => "late");

    await testClient(app).get("/sync");

    expect(log.lines).toEqual([]);
  });

  it("that returns nothing responds with 204", async () => {
    const app = throwing(quiet(), new Late()).addExceptionHandler(Late, () => {});

    expect((await testClient(app).get("/sync")).status).toBe(204);
  });

  it("may be replaced", async () => {
    const app = throwing(quiet(), new Late())
      .addExceptionHandler(Late, () => "first")
      .addExceptionHandler(Late, () => "second");

    expect((await testClient(app).get("/sync")).json()).toBe("second");
  });

  it("that fails leaves nothing of its response in the problem", async () => {
    const app = throwing(quiet(), new Late()).addExceptionHandler(Late, (_request, response) => {
      response.status(202).header("x-half", "written").cookie("half", "written");
      throw new HttpException(410, "It is gone", { code: "GONE" });
    });

    const answer = await testClient(app).get("/sync");

    expect([answer.status, answer.headers["x-half"], answer.cookies]).toEqual([410, undefined, []]);
  });

  it.each([
    [
      "throws an unexpected error",
      () => {
        throw new TypeError("s3cret");
      },
      500,
      "internal_server_error",
    ],
    ["rejects", () => Promise.reject(new TypeError("s3cret")), 500, "internal_server_error"],
    [
      "throws an HTTP exception",
      () => {
        throw new HttpException(410, "It is gone", { code: "GONE" });
      },
      410,
      "gone",
    ],
    ["answers what JSON cannot say", () => 1n, 500, "internal_server_error"],
  ] as readonly [string, () => unknown, number, string][])(
    "that %s results in a problem, and is not called again",
    async (_what, handler, status, code) => {
      let calls = 0;
      const app = throwing(quiet(), new Late()).addExceptionHandler(Error, () => {
        calls++;
        return handler();
      });

      const answer = await testClient(app).get("/sync");

      expect([answer.status, answer.json()]).toEqual([status, expect.objectContaining({ code })]);
      expect(answer.text()).not.toContain("s3cret");
      expect(calls).toBe(1);
    },
  );

  it("handles rejections by Portico itself", async () => {
    const app = quiet()
      .post("/", async ({ request }) => request.json())
      .addExceptionHandler(HttpException, (_request, response, exc) =>
        response.status(exc.status).json({ own: exc.code }),
      );

    const answers = [
      await testClient(app).post("/", { body: "text" }),
      await testClient(app).get("/"),
      await testClient(app).get("/nothing"),
    ];

    expect(answers.map((answer) => [answer.status, answer.json()])).toEqual([
      [415, { own: "UNSUPPORTED_MEDIA_TYPE" }],
      [405, { own: "METHOD_NOT_ALLOWED" }],
      [404, { own: "NOT_FOUND" }],
    ]);
  });

  it.each([
    ["no class", "Late", noop, "addExceptionHandler must be given an error class, received"],
    [
      "a class of something else",
      Date,
      noop,
      "addExceptionHandler must be given an error class, received the function Date",
    ],
    [
      "no function",
      Late,
      { status: 409 },
      "addExceptionHandler must be given a function (request, response, exc), received an object",
    ],
  ])("that is declared with %s is rejected at once", (_what, type, handler, sentence) => {
    const act = (): unknown => quiet().addExceptionHandler(type as never, handler as never);

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(sentence);
  });
});

describe("an HTTP exception", () => {
  // Created in the test, because the constructors are part of it.
  const family: readonly [name: string, create: () => HttpException, number, string, string][] = [
    ["HttpException", () => new HttpException(410, "Gone for good"), 410, "gone", "Gone for good"],
    ["HttpException", () => new HttpException(418, "A teapot", { code: "TEAPOT" }), 418, "teapot", "A teapot"],
    ["HttpException", () => new HttpException(499, "Closed"), 499, "error", "Closed"],
    ["HttpException", () => new HttpException(502, "Upstream"), 502, "bad_gateway", "Upstream"],
    ["BadRequest", () => new BadRequest("No sense"), 400, "bad_request", "No sense"],
    ["BadRequest", () => new BadRequest("No sense", { code: "NO_SENSE" }), 400, "no_sense", "No sense"],
    ["BodyNotJSON", () => new BodyNotJSON(), 400, "body_not_json", "The body is not valid JSON"],
    [
      "BodyNotForm",
      () => new BodyNotForm(),
      400,
      "body_not_form",
      "The body could not be parsed as the form type in Content-Type",
    ],
    ["BodyIncomplete", () => new BodyIncomplete(), 400, "body_incomplete", "The body ended before it was complete"],
    ["AuthenticationFailed", () => new AuthenticationFailed(), 401, "unauthenticated", "Authentication required"],
    ["AuthenticationFailed", () => new AuthenticationFailed("No", "Basic", "NO_KEY"), 401, "no_key", "No"],
    ["PermissionDenied", () => new PermissionDenied(), 403, "forbidden", "Permission denied"],
    [
      "OriginRefused",
      () => new OriginRefused("https://evil.example"),
      403,
      "origin_refused",
      "The origin https://evil.example is not allowed",
    ],
    ["NotFound", () => new NotFound(), 404, "not_found", "Not found"],
    ["NotFound", () => new NotFound("No such book", { code: "NO_BOOK" }), 404, "no_book", "No such book"],
    [
      "MethodNotAllowed",
      () => new MethodNotAllowed("PUT", ["GET"]),
      405,
      "method_not_allowed",
      "PUT is not allowed here",
    ],
    ["Conflict", () => new Conflict("Taken"), 409, "conflict", "Taken"],
    ["Conflict", () => new Conflict("Taken", { code: "NAME_TAKEN" }), 409, "name_taken", "Taken"],
    ["PayloadTooLarge", () => new PayloadTooLarge(10), 413, "payload_too_large", "The body is larger than 10 bytes"],
    [
      "UnsupportedMediaType",
      () => new UnsupportedMediaType(undefined, "a form"),
      415,
      "unsupported_media_type",
      "The body must be a form, but its Content-Type is missing",
    ],
    ["TooManyRequests", () => new TooManyRequests(7), 429, "rate_limited", "Too many attempts, retry in 7 s"],
    ["ServiceUnavailable", () => new ServiceUnavailable("Later"), 503, "service_unavailable", "Later"],
  ];
  it.each(family)(
    "%s is its status, its sentence and its code in lower case",
    async (name, create, status, code, detail) => {
      const error = create();
      const { answer, log } = await thrown(error);

      expect(error.name).toBe(name);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        "content-type": "application/problem+json; charset=utf-8",
        "cache-control": "no-store",
      });
      expect(answer.json()).toEqual({ type: "about:blank", title: expect.any(String), status, detail, code });
      expect(log.lines).toEqual([]);
    },
  );

  it.each([200, 204, 303, 399, 0, Number.NaN])("cannot have the status %s, which is not an error", (status) => {
    expect(() => new HttpException(status, "fine")).toThrow(
      new RangeError(
        `the status of an HttpException must be 400 or above, received ${status}: use response.status() for a success`,
      ),
    );
  });

  it("brings its headers", async () => {
    const answers = [
      (await thrown(new TooManyRequests(7))).answer,
      (await thrown(new ServiceUnavailable("Later", { retryAfterSeconds: 9 }))).answer,
      (await thrown(new MethodNotAllowed("PUT", ["GET", "HEAD"]))).answer,
      (await thrown(new HttpException(401, "Who?", { headers: { "www-authenticate": "Bearer" } }))).answer,
      (await thrown(new AuthenticationFailed("Who?", "Basic"))).answer,
      (await thrown(new ServiceUnavailable("Later", { headers: { "x-outage": "disk" } }))).answer,
      (await thrown(new TooManyRequests(3, { headers: { "x-limit": "5" } }))).answer,
    ];

    const waits = ["7", "9", undefined, undefined, undefined, "1", "3"];
    expect(answers.map(({ headers }) => headers["retry-after"])).toEqual(waits);
    expect(answers[2]?.headers["allow"]).toBe("GET, HEAD");
    expect(answers.slice(3, 5).map(({ headers }) => headers["www-authenticate"])).toEqual(["Bearer", "Basic"]);
    expect([answers[5]?.headers["x-outage"], answers[6]?.headers["x-limit"]]).toEqual(["disk", "5"]);
  });

  it("keeps its cause to itself", async () => {
    const { answer } = await thrown(new HttpException(400, "Bad", { cause: new Error("s3cret") }));

    expect(answer.text()).not.toContain("s3cret");
  });

  it("of the application is sent likewise below 500; from 500 on it is unexpected", async () => {
    class OutOfStock extends PorticoError {
      override get members(): Record<string, unknown> {
        return { left: 0 };
      }
    }

    const blamed = await thrown(new OutOfStock("OUT_OF_STOCK", "Emma is out of stock", { status: 409 }));
    const failed = await thrown(new OutOfStock("STOCK_LOST", "s3cret", { status: 500 }));

    expect([blamed.answer.status, blamed.answer.json()]).toEqual([
      409,
      {
        type: "about:blank",
        title: "Conflict",
        status: 409,
        detail: "Emma is out of stock",
        code: "out_of_stock",
        left: 0,
      },
    ]);
    expect([failed.answer.status, failed.answer.json()]).toEqual([
      500,
      expect.objectContaining({ code: "internal_server_error" }),
    ]);
    expect(failed.log.lines[0]).toMatchObject({ code: "STOCK_LOST", msg: "s3cret" });
  });
});

describe("an unexpected error", () => {
  class Broken extends Error {
    readonly password = "hunter2";
  }

  it.each(["/sync", "/async"])(
    "is a 500 with an id that is in exactly one log line, and nothing else (%s)",
    async (path) => {
      const error = new Broken("s3cret of the database", { cause: new Error("s3cret cause") });

      const { answer, log } = await thrown(error, { path });

      const body = answer.json() as { correlation_id: string };
      expect(answer.status).toBe(500);
      expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(body).toEqual({
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "An unexpected error occurred",
        code: "internal_server_error",
        correlation_id: expect.stringMatching(/^[\w-]{16}$/),
      });
      expect(log.lines).toHaveLength(1);
      expect(log.lines[0]).toMatchObject({
        level: "error",
        correlation_id: body.correlation_id,
        code: "INTERNAL_SERVER_ERROR",
        method: "GET",
        path,
        msg: "s3cret of the database",
        err: {
          message: expect.stringContaining("s3cret of the database"),
          stack: expect.stringContaining("exceptions.test.ts"),
        },
      });
    },
  );

  it("has a new id each time", async () => {
    const client = testClient(throwing(quiet(), new Error("no")));

    const ids = await Promise.all(
      Array.from(
        { length: 50 },
        async () => ((await client.get("/sync")).json() as { correlation_id: string }).correlation_id,
      ),
    );

    expect(new Set(ids).size).toBe(50);
  });

  it.each([
    ["a string", "s3cret"],
    ["an object", { s3cret: true }],
    ["null", null],
    ["undefined", undefined],
    ["a symbol", Symbol("s3cret")],
  ])("may be no error at all: %s", async (_what, value) => {
    const { answer, log } = await thrown(value, { path: "/async" });

    expect([answer.status, answer.json()]).toEqual([500, expect.objectContaining({ code: "internal_server_error" })]);
    expect(answer.text()).not.toContain("s3cret");
    expect(log.lines.map(({ msg }) => msg)).toEqual(["a value that is not an Error was thrown"]);
  });

  it.each(["x-request-id", "traceparent"])("is logged with the %s of the request", async (name) => {
    const { log, answer } = await thrown(new Error("no"), { headers: { [name]: "abc-123" } });

    expect(log.lines[0]).toMatchObject({ request_id: "abc-123" });
    expect((answer.json() as { correlation_id: string }).correlation_id).not.toBe("abc-123");
  });

  it("is logged without the query string, cookies and credentials of the request", async () => {
    const { log } = await thrown(new Error("no"), {
      path: "/sync?token=s3cret",
      headers: { authorization: "Bearer s3cret", cookie: "session=s3cret" },
    });

    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatchObject({ path: "/sync" });
    expect(log.text).not.toContain("s3cret");
  });

  it("shows itself to the client with debug: true", async () => {
    const { answer } = await thrown(new Broken("what happened"), { debug: true });

    const body = answer.json() as { detail: string; correlation_id: string };
    expect(answer.status).toBe(500);
    expect(body.detail).toContain("what happened");
    expect(body.detail).toContain("exceptions.test.ts");
    expect(body.correlation_id).toEqual(expect.any(String));
  });

  it("with debug: true also shows a thrown value that is not an Error", async () => {
    const { answer } = await thrown("a mere string", { debug: true });

    expect(answer.json()).toMatchObject({ detail: "a mere string" });
  });
});

it("nothing is logged for successful requests", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log }).get("/", () => "fine");

  await testClient(app).get("/?token=s3cret");
  await testClient(app).get("/nothing?token=s3cret");

  expect(log.text).not.toContain("s3cret");
  expect(log.lines).toEqual([]);
});

describe("a browser that opens a URL", () => {
  const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

  it.each([
    [new AuthenticationFailed("No session"), 401, "Sign in"],
    [new PermissionDenied("Staff only"), 403, "No permission"],
    [new NotFound("No book 7"), 404, "Page not found"],
    [new TooManyRequests(4711), 429, "Too many requests"],
    [new Error("no disk"), 500, "Something went wrong"],
    [new ServiceUnavailable("The store is down"), 503, "Unavailable"],
  ])("gets a page without the message for %s", async (error, status, title) => {
    const { answer, log } = await thrown(error, { headers: browser, title: "Shop <1>" });

    expect([answer.status, answer.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"]);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", vary: "Accept" });
    expect(answer.text()).toContain(`<h1>${title}</h1>`);
    expect(answer.text()).toContain("<span>Shop &lt;1&gt;</span>");
    expect(answer.text()).not.toContain(error.message);
    const [line] = log.lines.filter(({ correlation_id: id }) => id !== undefined);
    expect(/Reference: <code>([^<]+)/.exec(answer.text())?.[1]).toBe(line?.["correlation_id"]);
  });

  it("gets the problem of other statuses, like every client that asks for no page", async () => {
    const type = async (error: Error, accept: string): Promise<string | undefined> =>
      (await thrown(error, { headers: { accept } })).answer.headers["content-type"];
    const problem = "application/problem+json; charset=utf-8";

    expect(await type(new Conflict("Sold out"), browser.accept)).toBe(problem);
    expect(await type(new NotFound(), "*/*")).toBe(problem);
    expect(await type(new NotFound(), "application/json, text/html;q=0.5")).toBe(problem);
    expect((await thrown(new NotFound())).answer.headers["content-type"]).toBe(problem);
  });

  it("loads nothing but the logo, and reads white or black on the accent", async () => {
    const page = async (accent: `#${string}`) =>
      (await thrown(new NotFound(), { headers: browser, brand: { logo: "/logo.svg", accent } })).answer;
    const [dark, light] = [await page("#7a3b2e"), await page("#f5d90a")];

    expect(dark.headers["content-security-policy"]).toMatch(/img-src 'self' data:; .*frame-ancestors 'none'/);
    expect(dark.text()).toContain('<img src="/logo.svg" alt="">');
    expect(dark.text()).toContain("--accent:#7a3b2e;--on-accent:#fff");
    expect(light.text()).toContain("--accent:#f5d90a;--on-accent:#000");
    expect(dark.text()).not.toMatch(/<script|https?:/);
  });

  it.each([
    ["brand.logo", { logo: "https://cdn.example/logo.svg" }, 'a path that begins with "/"'],
    ["brand.accent", { accent: "red;} body{display:none" }, 'a colour such as "#7a3b2e"'],
  ])("stops startup with a sentence for %s", (option, brand, expected) => {
    expect(() => new PorticoApp({ brand } as never)).toThrow(`PorticoApp.${option} must be ${expected}`);
  });
});

describe("an exception handler for every error", () => {
  /** The handlers of the guide: one that reports what is unexpected, and one that rewords what is not. */
  const answering = (app: PorticoApp) => {
    app.get("/pages", ({ response }) => response.paginate([1, 2, 3], { strategy: new PageNumberPagination() }));
    app.post("/books", { body: z.object({ title: z.string() }) }, () => "made");
    app.get("/retry", () => {
      throw new ServiceUnavailable("later");
    });
    app.get("/fails", () => {
      throw new Error("secret");
    });
    return testClient(app);
  };

  it("leaves every error that blames the request as it is, also that of a list", async () => {
    const seen: string[] = [];
    const app = quiet();
    app.addExceptionHandler(Error, (_request, _response, exc) => {
      if (exc instanceof PorticoError && exc.status < 500) throw exc;
      seen.push(exc.message);
      throw exc;
    });
    const client = answering(app);

    const statuses = [
      (await client.get("/pages?page=0")).status,
      (await client.get("/nowhere")).status,
      (await client.post("/books", { body: {} })).status,
      (await client.get("/fails")).status,
    ];

    expect(statuses).toEqual([400, 404, 422, 500]);
    expect(seen).toEqual(["secret"]);
  });

  it("rewords an error, which keeps its status, its headers and its members", async () => {
    const app = quiet();
    app.addExceptionHandler(PorticoError, (_request, _response, exc) => {
      if (exc.status >= 500) throw exc;
      const { code, headers, members, status } = exc;
      throw new HttpException(status, "Sorry", { code, headers, members });
    });
    const client = answering(app);

    const invalid = await client.post("/books", { body: {} });
    const page = await client.get("/pages?page=0");
    const method = await client.post("/pages");

    expect([invalid.status, invalid.json()]).toMatchObject([
      422,
      { detail: "Sorry", code: "validation_failed", errors: [{ in: "body", path: ["title"] }] },
    ]);
    expect([page.status, page.json()]).toMatchObject([
      400,
      { detail: "Sorry", code: "invalid_page", parameter: "page" },
    ]);
    expect([method.status, method.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });
});
