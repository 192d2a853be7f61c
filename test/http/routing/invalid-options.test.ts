import {
  ConfigurationError,
  HttpContext,
  type MiddlewareFunction,
  PorticoApp,
  Router,
  WebSocketContext,
} from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const options: Readonly<Record<string, readonly unknown[]>> = {
  auth: [null, 1, "session", {}, { check: true }],
  params: [null, 1, "db", []],
  body: [null, 1, {}, "text"],
  query: [null, 1, {}, []],
  path: [null, 1, {}, "id"],
  response: [
    null,
    1,
    {},
    { 199: z.string() },
    { 600: z.string() },
    { 2000: z.string() },
    { 200: 1 },
    { 200: undefined },
    { x200: null },
    { 200: null, 600: null },
  ],
  paginated: [
    null,
    1,
    {},
    { item: z.string() },
    { strategy: "page_number", item: {} },
    { strategy: "page_number", item: z.string(), size: 5 },
  ],
  errors: [
    null,
    1,
    { 399: "no" },
    { 600: "no" },
    { 404: 1 },
    { x404: "no" },
    { 4045: "no" },
    { 404: "yes", 600: "no" },
    { 404: "yes", 409: null },
  ],
  middleware: [null, 1, {}],
  maxBody: [null, -1, "many"],
  timeoutSeconds: [null, -1, "1"],
  cost: [null, -1, 1.5],
  tags: [null, "a", [1]],
  deprecated: [null, 1],
  openapi: [null, "no"],
  name: [null, "", 1],
};
const socketOptions: typeof options = {
  auth: [null, 1],
  params: [null, []],
  query: [null, {}],
  path: [null, {}],
  middleware: [null, {}],
  protocols: [null, "chat", [1], [""], ["a b"], ["a,b"], ["chat!"], ["!chat"]],
  maxMessage: [null, -1, "many"],
  maxBuffered: [null, -1, "many"],
  pingSeconds: [null, -1, "1"],
};

function cases(of: typeof options): readonly (readonly [string, string, unknown])[] {
  return Object.entries(of).flatMap(([name, values]) =>
    values.map((value) => [name, JSON.stringify(value) ?? "undefined", value] as const),
  );
}

describe("an option of a route", () => {
  it.each(cases(options))("%s cannot be %s", (name, _text, value) => {
    const declare = (): unknown => new Router().post("/x", { [name]: value } as object, () => 1);

    expect(declare).toThrow(ConfigurationError);
    expect(declare).toThrow(`POST /x.${name} must be `);
  });

  it("body is not supported for GET", () => {
    const declare = (): unknown => new Router().get("/x", { body: z.string() } as never, () => 1);

    expect(declare).toThrow("GET /x.body is not supported for this method");
  });

  it("paginated.item and response describe the same body, so one of them is needed and not both", () => {
    const strategy = "page_number";
    const declare = (route: object) => (): unknown => new Router().get("/x", route, () => 1);

    expect(declare({ paginated: { strategy, item: z.string() }, response: z.array(z.string()) })).toThrow(
      "GET /x.paginated.item cannot be combined with response: remove one of the two",
    );
    expect(declare({ paginated: { strategy: "pages", item: z.string() } })).toThrow(
      "GET /x.paginated.strategy must be ",
    );
    expect(declare({ paginated: { strategy }, response: z.array(z.string()) })).not.toThrow();
    expect(declare({ paginated: { strategy } })).toThrow(
      "GET /x.paginated.item is required unless response describes the body",
    );
    expect(declare({ paginated: { strategy, item: z.string(), rule: {} } })).toThrow(
      "GET /x.paginated.rule must be a rule from rule(), every(), some() or not()",
    );
  });

  it.each(["request", "response", "user", "body", "query", "path", "socket"])(
    "params cannot have the name %s, which every handler has",
    (name) => {
      expect(() => new Router().get("/x", { params: { [name]: 1 } as never }, () => 1)).toThrow(
        `GET /x: the parameter ${name} is a name that every handler already has: choose another one`,
      );
    },
  );

  it("params cannot have the context of a socket", () => {
    expect(() => new Router().get("/x", { params: { ws: WebSocketContext } as never }, () => 1)).toThrow(
      "GET /x: the parameter ws is declared as WebSocketContext, which is not available in this route",
    );
  });
});

describe("an option of a socket route", () => {
  it.each(cases(socketOptions))("%s cannot be %s", (name, _text, value) => {
    const declare = (): unknown => new Router().socket("/x", { [name]: value } as object, () => {});

    expect(declare).toThrow(ConfigurationError);
    expect(declare).toThrow(`socket /x.${name} must be `);
  });

  it("params cannot have the context of a request", () => {
    expect(() => new Router().socket("/x", { params: { http: HttpContext } as never }, () => {})).toThrow(
      "socket /x: the parameter http is declared as HttpContext, which is not available in this route",
    );
    expect(() => new Router().socket("/x", { params: { ws: WebSocketContext } }, () => {})).not.toThrow();
  });
});

it.each(["live", 1])("the path of a socket route cannot be %j", (path) => {
  const declare = (): unknown => new Router().socket(path as string, () => {});

  expect(declare).toThrow(`socket ${path}: the path must be a string that begins with "/", received `);
});

describe("a middleware", () => {
  it.each([[null], [undefined], [1], [{}], [{ handle: true }]])("cannot be %j", (value) => {
    const middleware = value as MiddlewareFunction;
    const sentence = "a middleware must be a function (ctx, next), or an object with handle(ctx, next)";

    expect(() => new PorticoApp().use(middleware)).toThrow(sentence);
    expect(() => new Router().get("/x", { middleware: [middleware] }, () => 1)).toThrow(`GET /x: ${sentence}`);
  });
});

it("an application that has started accepts no more routes, sockets, middleware or routers", async () => {
  const app = new PorticoApp({ logger: false }).get("/", () => 1);
  await testClient(app).get("/");
  const late = [
    () => app.get("/late", () => 1),
    () => app.socket("/late", () => {}),
    () => app.use(async (_ctx, next) => next()),
    () => app.mount("/late", new Router()),
  ];

  for (const declare of late)
    expect(declare).toThrow("has already started: declare routes, middleware and mounts before the first request");
});
