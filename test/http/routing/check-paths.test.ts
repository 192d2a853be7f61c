import { ConfigurationError, PorticoApp, Router } from "portico";
import { expect, it } from "vitest";

it.each([
  [
    "the same path",
    (app: PorticoApp) => app.get("/books/:id", () => 1).get("/books/:id", () => 2),
    "GET /books/:id is declared twice",
  ],
  [
    "another name of a parameter",
    (app: PorticoApp) => app.get("/books/:id", () => 1).get("/books/:key", () => 2),
    "GET /books/:id is the same route",
  ],
  [
    "a mounted router",
    (app: PorticoApp) =>
      app
        .get("/a/b", () => 1)
        .mount(
          "/a",
          new Router().get("/b", () => 2),
        ),
    "GET /a/b is declared twice",
  ],
  ["a health route", (app: PorticoApp) => app.get("/livez", () => 1), "GET /livez is declared twice"],
])("rejects at startup a route declared twice by %s", async (_title, declare, message) => {
  const app = new PorticoApp({ logger: false });
  declare(app);

  await expect(app.inject("/")).rejects.toThrow(message);
});

it.each([
  ["/files/*/name", "has an invalid path: Wildcard must be the last character in the route"],
  ["/books/:id(^\\d+", 'has an invalid path: Invalid regexp expression in "/books/:id(^\\d+"'],
  ["/books/:id?/pages", "has an invalid path: Optional Parameter needs to be the last parameter of the path"],
  ["/books/:", "declares a parameter without a name"],
  ["/books/:id/pages/:id", "declares the parameter id twice"],
])("rejects at startup an invalid path: %s", async (path, message) => {
  const app = new PorticoApp({ logger: false }).get(path, () => 1);

  await expect(app.inject("/")).rejects.toThrow(new ConfigurationError(`GET ${path}`, message));
});

it("rejects at startup a parameter that a prefix already declares, on a socket too", async () => {
  const chat = new Router().socket("/:room", () => {});
  const app = new PorticoApp({ logger: false }).mount("/rooms/:room", chat);

  await expect(app.inject("/")).rejects.toThrow("socket /rooms/:room/:room declares the parameter room twice");
});

it("takes several parameters in one piece, patterns, and a wildcard at the end", async () => {
  const app = new PorticoApp({ logger: false })
    .get("/:year(^\\d{4}$)-:month", ({ path }) => path)
    .get("/files/*", ({ path }) => path);

  const answers = [await app.inject("/2024-06"), await app.inject("/files/a/b")];

  expect(answers.map(({ body }) => String(body))).toEqual(['{"year":"2024","month":"06"}', '{"*":"a/b"}']);
});

it("takes a path with and without a parameter", async () => {
  const app = new PorticoApp({ logger: false }).get("/v", () => "all").get("/v:major", ({ path }) => path);

  const answers = [await app.inject("/v"), await app.inject("/v2")];

  expect(answers.map(({ body }) => String(body))).toEqual(['"all"', '{"major":"2"}']);
});

it("takes the same path with another method", async () => {
  const app = new PorticoApp({ logger: false }).get("/books", () => "list").post("/books", () => "added");

  const answers = [await app.inject("/books"), await app.inject({ method: "POST", url: "/books" })];

  expect(answers.map(({ body }) => String(body))).toEqual(['"list"', '"added"']);
});
