import { PorticoApp, Router } from "portico";
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
])("refuses at start a route declared twice by %s", async (_title, declare, message) => {
  const app = new PorticoApp({ logger: false });
  declare(app);

  await expect(app.inject("/")).rejects.toThrow(message);
});

it("takes the same path with another method", async () => {
  const app = new PorticoApp({ logger: false }).get("/books", () => "list").post("/books", () => "added");

  const answers = [await app.inject("/books"), await app.inject({ method: "POST", url: "/books" })];

  expect(answers.map(({ body }) => String(body))).toEqual(['"list"', '"added"']);
});
