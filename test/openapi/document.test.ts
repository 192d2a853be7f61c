import { Validator } from "@seriousme/openapi-schema-validator";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import {
  type AuthScope,
  ConfigurationError,
  type Gate,
  HttpException,
  type OpenAPIDocument,
  type OpenAPISecurityScheme,
  PorticoApp,
  Router,
  rateLimit,
} from "portico";
import {
  APIKeyAuthBackend,
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  SimpleUser,
  useAuth,
} from "portico/auth";
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

const newApp = (): PorticoApp => new PorticoApp({ title: "Bookshop", version: "1.2.0", logger: false });

const Author = z.object({ name: z.string() }).meta({ id: "Author" });
const Book = z.object({ title: z.string(), author: Author, price: z.number().default(10) }).meta({ id: "Book" });

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the document", () => {
  it("is served in production only if it is enabled, and so is its page", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const options = { logger: false, publicUrl: "https://shop.example" } as const;
    const apps = [new PorticoApp(options), new PorticoApp({ ...options, openapi: true })];

    const statuses = apps.map(async (app) => [
      (await app.inject("/openapi.json")).status,
      (await app.inject("/docs")).status,
    ]);

    expect(await Promise.all(statuses)).toEqual([
      [404, 404],
      [200, 200],
    ]);
  });

  it("has the title of the application and is empty without routes", () => {
    const app = new PorticoApp({ title: "Bookshop", version: "1.2.0", description: "Books.", logger: false });

    const document = app.openapi();

    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toEqual({ title: "Bookshop", version: "1.2.0", description: "Books." });
    expect(document.paths).toEqual({});
  });

  it("omits routes declared with openapi: false, and its own routes", async () => {
    const app = newApp();
    app.get("/books", () => []).get("/inner", { openapi: false }, () => []);

    const served = JSON.parse((await app.inject("/openapi.json")).body.toString()) as OpenAPIDocument;

    expect(Object.keys(served.paths)).toEqual(["/books"]);
  });

  it("has the summary and description of a route", () => {
    const app = newApp();
    const words = { summary: "List books", description: "All of them.", tags: ["Books"], deprecated: true };
    app.get("/books", { ...words, name: "listBooks" }, () => []);

    const document = app.openapi();

    expect(document.paths["/books"]?.get).toMatchObject({ ...words, operationId: "listBooks" });
    expect(document.tags).toEqual([{ name: "Books" }]);
  });

  it("has the routes of mounted routers under their prefixes", () => {
    const books = new Router({ prefix: "/books" });
    books.get("/:id", () => null);

    const document = newApp().mount("/api", books).openapi();

    expect(Object.keys(document.paths)).toEqual(["/api/books/{id}"]);
  });

  it("is equal each time it is built", () => {
    const node = scope({ node: { value: "string", "children?": "node[]" } }).export().node;
    let fields = 0;
    const make = (): string => {
      // arktype numbers its types through the whole process.
      type({ [`field${fields++}`]: "string" });
      const app = newApp();
      app.post("/nodes", { body: node, response: node }, () => ({ value: "a" }));
      app.get("/books", { response: z.array(Book) }, () => []);
      return JSON.stringify(app.openapi());
    };

    expect(make()).toBe(make());
    expect(make()).not.toMatch(/intersection\d/);
  });
});

describe("operation ids", () => {
  it("come from method and path, and are unique", () => {
    const app = newApp();
    app
      .get("/", () => 1)
      .get("/books/:id/cover-image", () => 1)
      .get("/a-b", () => 1)
      .get("/a_b", () => 1);
    app.post("/a-b", { name: "getBooks" }, () => 1).get("/books", () => 1);

    const ids = operations(app.openapi()).map(({ operationId }) => operationId);

    expect(ids).toEqual(["getRoot", "getBooksByIdCoverImage", "getAB", "getBooks", "getAB2", "getBooks2"]);
  });

  it("that two routes share are rejected with both routes named", () => {
    const app = newApp();
    app.get("/books", { name: "books" }, () => 1).post("/books", { name: "books" }, () => 1);

    expect(() => app.openapi()).toThrow(ConfigurationError);
    expect(() => app.openapi()).toThrow('POST /books.name is "books", which GET /books already uses');
  });
});

describe("paths", () => {
  it.each([
    ["/books/:id", "/books/{id}", [{ name: "id", schema: { type: "string" } }]],
    ["/books/:id(^\\d+$)", "/books/{id}", [{ name: "id", schema: { type: "string", pattern: "^\\d+$" } }]],
    ["/covers/:name(^(?:a|b)+).png", "/covers/{name}.png", [{ name: "name", schema: { pattern: "^(?:(?:a|b)+)$" } }]],
    ["/at/:lat-:lng", "/at/{lat}-{lng}", [{ name: "lat" }, { name: "lng" }]],
    ["/books::search", "/books:search", []],
    ["/files/*", "/files/{wildcard}", [{ name: "wildcard", description: expect.stringContaining("slashes") }]],
  ])("%s is %s", (path, written, parameters) => {
    const app = newApp();
    app.get(path, () => 1);

    const document = app.openapi();

    expect(Object.keys(document.paths)).toEqual([written]);
    expect(document.paths[written]?.get?.parameters ?? []).toMatchObject(
      parameters.map((parameter) => ({ in: "path", required: true, ...parameter })),
    );
  });

  it("with an optional parameter become two", () => {
    const app = newApp();
    app.get("/books/:id?", { name: "books" }, () => 1).get("/authors/:id?", () => 1);

    const document = app.openapi();

    expect(operations(document).map(({ operationId }) => operationId)).toEqual([
      "books",
      "booksWithoutId",
      "getAuthorsById",
      "getAuthors",
    ]);
    expect(Object.keys(document.paths)).toEqual(["/books/{id}", "/books", "/authors/{id}", "/authors"]);
    expect(document.paths["/books"]?.get?.parameters).toBeUndefined();
  });

  it("that differ only in names become one", () => {
    const app = newApp();
    app.get("/books/:id", () => 1).delete("/books/:key", { path: z.object({ key: z.uuid() }) }, () => 1);

    const { paths } = app.openapi();

    expect(Object.keys(paths)).toEqual(["/books/{id}"]);
    expect(paths["/books/{id}"]?.delete?.parameters).toMatchObject([{ name: "id", schema: { format: "uuid" } }]);
  });
});

const schemas = {
  zod: {
    path: z.object({ id: z.string().min(2) }),
    query: z.object({ limit: z.coerce.number().default(10), tag: z.array(z.string()), q: z.string().optional() }),
    body: z.object({ title: z.string() }),
    response: z.object({ title: z.string() }),
  },
  valibot: {
    path: toStandardJsonSchema(v.object({ id: v.pipe(v.string(), v.minLength(2)) })),
    query: toStandardJsonSchema(
      v.object({ limit: v.optional(v.number(), 10), tag: v.array(v.string()), q: v.optional(v.string()) }),
    ),
    body: toStandardJsonSchema(v.object({ title: v.string() })),
    response: toStandardJsonSchema(v.object({ title: v.string() })),
  },
  arktype: {
    path: type({ id: "string >= 2" }),
    query: type({ limit: "number = 10", tag: "string[]", "q?": "string" }),
    body: type({ title: "string" }),
    response: type({ title: "string" }),
  },
};

describe.each(Object.entries(schemas))("the schemas of %s", (_, { path, query, body, response }) => {
  const app = newApp();
  app.put("/books/:id", { path, query, body, response }, () => ({ title: "Emma" }));
  const document = app.openapi();
  const operation = document.paths["/books/{id}"]?.put;

  it("describe path and query, parameter by parameter", () => {
    const byName = Object.fromEntries((operation?.parameters ?? []).map((parameter) => [parameter.name, parameter]));

    expect(byName["id"]).toEqual({ name: "id", in: "path", required: true, schema: { type: "string", minLength: 2 } });
    expect(byName["limit"]).toMatchObject({ in: "query", schema: { type: "number" } });
    expect(byName["limit"]).not.toHaveProperty("required");
    expect(byName["tag"]).toEqual({
      name: "tag",
      in: "query",
      required: true,
      schema: { type: "array", items: { type: "string" } },
    });
    expect(byName["q"]).toEqual({ name: "q", in: "query", schema: { type: "string" } });
  });

  it("describe the body and the response", () => {
    const content = {
      "application/json": {
        schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      },
    };

    expect(operation?.requestBody).toEqual({ required: true, content });
    expect(operation?.responses["200"]).toEqual({ description: "OK", content });
  });

  it("add a 422 with the problem that is sent", async () => {
    const answer = await app.inject({ method: "PUT", url: "/books/1" });

    const problem = JSON.parse(answer.body.toString()) as Record<string, unknown>;

    expect(answer.status).toBe(422);
    expect(Object.keys(operation?.responses["422"]?.content ?? {})).toEqual(["application/problem+json"]);
    const known = { ...propertiesOf(document, "Problem"), ...propertiesOf(document, "ValidationProblem") };
    expect(Object.keys(known)).toEqual(expect.arrayContaining(Object.keys(problem)));
  });

  it("produce a valid document", async () => {
    expect(await faultsOf(document)).toEqual([]);
  });
});

describe("responses", () => {
  it("are listed by status, with the route's declarations before Portico's", () => {
    const Missing = z.object({ detail: z.string() });
    const app = newApp();
    app.post("/books", { body: Book, response: { 201: Book, 404: Missing, 422: Missing } }, ({ response }) =>
      response.status(404).json({ detail: "no" }),
    );

    const responses = app.openapi().paths["/books"]?.post?.responses ?? {};

    expect(Object.keys(responses)).toEqual(["201", "400", "404", "422", "default"]);
    expect(responses["201"]?.description).toBe("Created");
    expect(Object.keys(responses["422"]?.content ?? {})).toEqual(["application/json"]);
    expect(Object.keys(responses["default"]?.content ?? {})).toEqual(["application/problem+json"]);
  });

  it("without a schema are 200 without content", () => {
    const app = newApp();
    app.get("/books", () => []);

    expect(app.openapi().paths["/books"]?.get?.responses).toEqual({
      200: { description: "OK" },
      default: expect.objectContaining({ description: "Any other problem" }),
    });
  });

  it("without a body have no content", () => {
    const app = newApp();
    app.delete("/books/:id", { response: { 204: null } }, ({ response }) => response.empty());

    expect(app.openapi().paths["/books/{id}"]?.delete?.responses).toEqual({
      204: { description: "No Content" },
      default: expect.anything(),
    });
  });

  it("of declared errors are problems, with or without a list of invalid values", async () => {
    const app = newApp();
    const errors = { 409: "The title is taken", 422: "The title is not a title" };
    app.post("/books", { body: Book, errors, response: { 201: Book } }, () => {
      throw new HttpException(422, "The title is not a title");
    });

    const document = app.openapi();

    const responses = document.paths["/books"]?.post?.responses ?? {};
    const problem = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
    expect(Object.keys(responses)).toEqual(["201", "400", "409", "422", "default"]);
    expect(responses["409"]).toEqual({ description: "The title is taken", content: problem });
    expect(responses["422"]).toEqual({ description: "The title is not a title", content: problem });
    expect(document.components.schemas["Problem"]?.["properties"]).toHaveProperty("errors");
    expect(document.components.schemas["Problem"]?.["required"]).not.toContain("errors");
    expect(await faultsOf(document)).toEqual([]);
  });

  it("describe the output, and requests the input", () => {
    const app = newApp();
    app.post("/books", { body: Book, response: Book }, ({ body }) => body);

    const { paths, components } = app.openapi();

    expect(paths["/books"]?.post).toMatchObject({
      requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/BookInput" } } } },
      responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Book" } } } } },
    });
    expect(components.schemas["Book"]?.["required"]).toEqual(["title", "author", "price"]);
    expect(components.schemas["BookInput"]?.["required"]).toEqual(["title", "author"]);
    expect(Object.keys(components.schemas)).toEqual(["Author", "Book", "BookInput", "Problem", "ValidationProblem"]);
  });
});

describe("definitions", () => {
  it("of a schema become components, shared by the operations", async () => {
    const app = newApp();
    app
      .get("/books", { response: z.array(Book) }, () => [])
      .get("/best", { response: Book }, () => ({
        title: "Emma",
        author: { name: "Jane" },
      }));

    const document = app.openapi();

    expect(Object.keys(document.components.schemas)).toEqual(["Author", "Book", "Problem", "ValidationProblem"]);
    expect(JSON.stringify(document)).not.toMatch(/\$defs|\$schema/);
    expect(await faultsOf(document)).toEqual([]);
  });

  it("with the same name and different content are kept apart", async () => {
    const one = z.object({ a: z.string() }).meta({ title: "Thing" });
    const two = z.object({ b: z.string() }).meta({ title: "Thing" });
    const mine = z.object({ c: z.string() }).meta({ title: "Problem" });
    const app = newApp();
    app.get("/one", { response: one }, () => ({ a: "" })).get("/two", { response: two }, () => ({ b: "" }));
    app.get("/mine", { response: mine }, () => ({ c: "" }));

    const document = app.openapi();

    const names = ["Problem", "ProblemOutput", "Thing", "ThingOutput", "ValidationProblem"];
    expect(Object.keys(document.components.schemas)).toEqual(names);
    expect(await faultsOf(document)).toEqual([]);
  });

  it("of recursive schemas refer to the component", async () => {
    const Tree = z.object({
      value: z.string(),
      get children() {
        return z.array(Tree);
      },
    });
    const leaf: v.GenericSchema = v.object({ value: v.string(), children: v.lazy(() => v.array(leaf)) });
    const { node } = scope({ node: { value: "string", children: "node[]" } }).export();
    const app = newApp();
    app.post("/zod", { name: "zod", body: Tree }, () => 1);
    app.post("/wrapped", { name: "wrapped", body: z.object({ left: Tree, right: Tree }) }, () => 1);
    app.post("/valibot", { name: "valibot", body: toStandardJsonSchema(leaf) }, () => 1);
    app.post("/arktype", { name: "arktype", body: node }, () => 1);
    app.get("/query", { name: "query", query: z.object({ filter: Tree }) }, () => 1);

    const document = app.openapi();

    expect(document.components.schemas["ZodBody"]).toEqual({
      type: "object",
      properties: {
        value: { type: "string" },
        children: { type: "array", items: { $ref: "#/components/schemas/ZodBody" } },
      },
      required: ["value", "children"],
    });
    expect(document.paths["/arktype"]?.post?.requestBody?.content["application/json"]?.schema).toEqual({
      $ref: "#/components/schemas/ArktypeBody",
    });
    expect(await faultsOf(document)).toEqual([]);
  });

  it("ignore data that only looks like a reference", () => {
    const schema = withJsonSchema({
      type: "object",
      properties: { $ref: { type: "string" }, id: { const: { $ref: "#" } } },
      default: { $ref: "#/nowhere" },
    });
    const app = newApp();
    app.post("/odd", { body: schema }, () => 1);

    expect(app.openapi().paths["/odd"]?.post?.requestBody?.content["application/json"]?.schema).toEqual({
      type: "object",
      properties: { $ref: { type: "string" }, id: { const: { $ref: "#" } } },
      default: { $ref: "#/nowhere" },
    });
  });

  it("are found by pointers into the schema and by its $id", async () => {
    const schema = withJsonSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://shop.example/order.schema.json",
      type: "object",
      properties: { from: { $ref: "#/definitions/a~1b" }, to: { $ref: "#/properties/from" } },
      definitions: { "a/b": { type: "string" } },
    });
    const app = newApp();
    app.post("/orders", { body: schema }, () => 1);

    const document = app.openapi();

    expect(document.components.schemas["order"]).toEqual({
      type: "object",
      properties: {
        from: { $ref: "#/components/schemas/aB" },
        to: { $ref: "#/components/schemas/order/properties/from" },
      },
    });
    expect(await faultsOf(document)).toEqual([]);
  });
});

describe("a schema that JSON Schema cannot express", () => {
  it("is left open if its library has no JSON Schema", () => {
    const app = newApp();
    app.post("/books", { body: v.object({ title: v.string() }), query: v.object({}) }, () => 1);

    const operation = app.openapi().paths["/books"]?.post;

    expect(operation?.requestBody?.content["application/json"]?.schema).toEqual({});
    expect(operation?.parameters).toBeUndefined();
  });

  it.each([
    ["zod", z.object({ at: z.date(), size: z.string().transform(Number) })],
    ["arktype", type({ at: "Date", size: "unknown" })],
    [
      "valibot",
      toStandardJsonSchema(
        v.object({
          at: v.date(),
          size: v.pipe(
            v.string(),
            v.transform((text) => text.length),
            v.check((size: number) => size > 0),
          ),
        }),
      ),
    ],
  ])("is left open only in its place (%s)", (_, response) => {
    const app = newApp();
    app.get("/visits", { response: response as z.ZodType }, () => null);

    const content = app.openapi().paths["/visits"]?.get?.responses["200"]?.content;

    expect(content?.["application/json"]?.schema).toEqual({
      type: "object",
      properties: { at: {}, size: {} },
      required: ["at", "size"],
    });
  });

  it("is left open if the library fails", () => {
    const app = newApp();
    const schema = withJsonSchema(() => {
      throw new Error("not this one");
    });
    app.post("/books", { body: schema }, () => 1);

    expect(app.openapi().paths["/books"]?.post?.requestBody?.content["application/json"]?.schema).toEqual({});
  });

  it("is one exploded parameter in a query with several shapes", async () => {
    const app = newApp();
    app.get("/search", { query: z.union([z.object({ isbn: z.string() }), z.object({ title: z.string() })]) }, () => 1);

    const document = app.openapi();

    expect(document.paths["/search"]?.get?.parameters).toEqual([
      {
        name: "query",
        in: "query",
        style: "form",
        explode: true,
        schema: { anyOf: [expect.anything(), expect.anything()] },
      },
    ]);
    expect(await faultsOf(document)).toEqual([]);
  });
});

describe("gates", () => {
  it("list the authentication schemes that they accept", async () => {
    const app = newApp();
    app.get("/both", { auth: gate(true, ["jwt", "apikey"]) }, () => 1).get("/any", { auth: gate(true, []) }, () => 1);
    app.get("/maybe", { auth: gate(false, ["session"]) }, () => 1).get("/open", () => 1);
    app.get("/own", { auth: gate(true, ["magic" as AuthScope]) }, () => 1);

    const document = app.openapi();

    const security = (path: string): unknown => document.paths[path]?.get?.security;
    expect(security("/both")).toEqual([{ jwt: [] }, { apikey: [] }]);
    expect(security("/any")).toEqual([{ jwt: [] }, { session: [] }, { apikey: [] }]);
    expect(security("/maybe")).toEqual([{ session: [] }, {}]);
    expect(security("/open")).toBeUndefined();
    expect(security("/own")).toBeUndefined();
    expect(document.components.securitySchemes).toEqual({
      jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      session: { type: "apiKey", in: "cookie", name: "__Host-portico_session" },
      apikey: { type: "apiKey", in: "header", name: "X-API-Key" },
    });
    expect(await faultsOf(document)).toEqual([]);
  });

  it("of a custom backend are described by its headers, or by its own description", async () => {
    class Own extends AuthenticationBackend {
      readonly scope = "magic" as AuthScope;
      override get headers(): readonly string[] {
        return ["X-Signature"];
      }
      async authenticate(): Promise<AuthResult> {
        return AuthResult.decline();
      }
    }
    class Described extends Own {
      override get securityScheme(): OpenAPISecurityScheme {
        return { type: "http", scheme: "basic", description: "A name and a pin." };
      }
    }
    class Silent extends Own {
      override get headers(): readonly string[] {
        return ["Cookie"];
      }
    }
    const behind = (backend: readonly AuthenticationBackend[]): Router =>
      new Router({ middleware: [new AuthenticationMiddleware({ userModel: SimpleUser, backend })] })
        .get("/own", { auth: useAuth({ scopes: ["magic" as AuthScope] }) }, () => 1)
        .get("/any", { auth: useAuth() }, () => 1);
    const keys = new APIKeyAuthBackend({ header: "X-Partner-Key" });
    const app = newApp()
      .mount("/a", behind([new Own(), keys]))
      .mount("/b", behind([new Described()]))
      .mount("/c", behind([new Silent()]));

    const document = app.openapi();

    const security = (path: string): unknown => document.paths[path]?.get?.security;
    expect(security("/a/own")).toEqual([{ magic: [] }]);
    expect(security("/a/any")).toEqual([{ magic: [] }, { apikey: [] }]);
    expect(security("/b/own")).toEqual([{ magic2: [] }]);
    expect(security("/b/any")).toEqual([{ magic2: [] }]);
    expect(security("/c/own")).toBeUndefined();
    expect(document.components.securitySchemes).toEqual({
      magic: { type: "apiKey", in: "header", name: "X-Signature" },
      apikey: { type: "apiKey", in: "header", name: "x-partner-key" },
      magic2: { type: "http", scheme: "basic", description: "A name and a pin." },
    });
    expect(await faultsOf(document)).toEqual([]);
  });

  it("that are required add 401 and 403", () => {
    const app = newApp();
    app.get("/required", { auth: gate(true, []) }, () => 1).get("/optional", { auth: gate(false, []) }, () => 1);

    const { paths } = app.openapi();

    expect(Object.keys(paths["/required"]?.get?.responses ?? {})).toEqual(["200", "401", "403", "default"]);
    expect(Object.keys(paths["/optional"]?.get?.responses ?? {})).toEqual(["200", "default"]);
  });
});

describe("the rate limits of a route", () => {
  it("add 429 with the limits in words, also those of its router, unless the route describes 429 itself", async () => {
    const limits = [rateLimit({ perMinute: 30 }), rateLimit({ perHour: 200 })] as const;
    const app = newApp();
    const router = new Router({ middleware: [limits[0]] })
      .get("/", { middleware: [limits[1]] }, () => 1)
      .get("/own", { errors: { 429: "At most one order per minute" } }, () => 1);
    app.mount("/orders", router).get("/free", () => 1);

    const document = app.openapi();

    const described = (path: string): unknown => document.paths[path]?.get?.responses["429"]?.description;
    expect(described("/orders")).toBe("Too Many Requests: the limit is 30 per minute and 200 per hour");
    expect(described("/orders/own")).toBe("At most one order per minute");
    expect(described("/free")).toBeUndefined();
    expect(await faultsOf(document)).toEqual([]);
  });

  it("are described together with the budget of the application, which routes without a cost don't use", async () => {
    const app = new PorticoApp({ logger: false, budget: { addressPerMinute: 10 } })
      .get("/books", () => 1)
      .get("/search", { middleware: [rateLimit({ perMinute: 30 })] }, () => 1)
      .get("/status", { cost: 0 }, () => 1);

    const document = app.openapi();

    const described = (path: string): unknown => document.paths[path]?.get?.responses["429"]?.description;
    expect(described("/books")).toBe("Too Many Requests: the caller's budget is used up");
    expect(described("/search")).toBe(
      "Too Many Requests: the limit is 30 per minute, or the caller's budget is used up",
    );
    expect(described("/status")).toBeUndefined();
    expect(await faultsOf(document)).toEqual([]);
  });
});

function gate(required: boolean, scopes: readonly AuthScope[]): Gate {
  return { required, scopes, check: () => undefined };
}

/** A schema of no library, with this JSON Schema. */
function withJsonSchema(json: Record<string, unknown> | (() => Record<string, unknown>)): z.ZodType {
  const convert = typeof json === "function" ? json : () => json;
  const standard = { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) };
  return { "~standard": { ...standard, jsonSchema: { input: convert, output: convert } } } as unknown as z.ZodType;
}

function operations(document: OpenAPIDocument): { readonly operationId: string }[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path));
}

function propertiesOf(document: OpenAPIDocument, name: string): object {
  return document.components.schemas[name]?.["properties"] as object;
}

/** Returns the violations of the OpenAPI 3.1 schema, and the broken references. */
async function faultsOf(document: OpenAPIDocument): Promise<unknown[]> {
  const { valid, errors } = await new Validator().validate(
    structuredClone(document) as unknown as Record<string, unknown>,
  );
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref as string);
  return [...(valid ? [] : [errors]), ...refs.filter((ref) => follow(document, ref) === undefined)];
}

function follow(document: OpenAPIDocument, ref: string): unknown {
  const [start, ...keys] = ref.split("/");
  if (start !== "#") return undefined;
  return keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
}
