import { PorticoApp } from "portico";
import { manualClock } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { ROUTINGS } from "./routings.ts";

describe.each(ROUTINGS)("a request that is routed %s", (_, route) => {
  const shop = (): PorticoApp =>
    route(new PorticoApp({ logger: false, openapi: false }))
      .get("/books", ({ query, request }) => ({ query, url: request.url }))
      .post("/books", () => "written")
      .get("/books/new", ({ request }) => ({ params: request.params, query: request.query }))
      .get("/books/:id", ({ path, query }) => ({ ...path, ...query }))
      .get("/a;b", () => "semicolon");

  const ask = async (method: string, url: string): Promise<{ status: number; allow: unknown; body: unknown }> => {
    const { status, headers, body } = await shop().inject({ method, url, headers: { host: "shop.example" } });
    const text = body.toString();
    return { status, allow: headers["allow"], body: text === "" ? "" : JSON.parse(text) };
  };

  it.each([
    ["/books/new", { params: {}, query: {} }],
    ["/books/new/", { params: {}, query: {} }],
    ["/books/new?a=1", { params: {}, query: { a: "1" } }],
    ["/books/%6Eew", { params: {}, query: {} }],
    ["/books/%C3%A9?a=1&a=2", { id: "é", a: ["1", "2"] }],
    ["/books/:id", { id: ":id" }],
    ["/a;b", "semicolon"],
    ["/books?b=%20&c", { query: { b: " ", c: "" }, url: "http://shop.example/books?b=%20&c" }],
  ])("gets the route of its path: %s", async (url, body) => {
    expect(await ask("GET", url)).toMatchObject({ status: 200, body });
  });

  it("gets 404 without a route, and 405 with the allowed methods for another method", async () => {
    expect(await ask("GET", "/BOOKS")).toMatchObject({ status: 404, allow: undefined, body: { code: "not_found" } });
    expect(await ask("DELETE", "/books")).toMatchObject({
      status: 405,
      allow: "GET, POST, HEAD",
      body: { code: "method_not_allowed" },
    });
    expect(await ask("OPTIONS", "/books")).toEqual({ status: 204, allow: "GET, POST, HEAD, OPTIONS", body: "" });
  });

  it.each([
    ["/books/%E0%A4%A", 400, "malformed_url", "The path is not a valid URL"],
    [`/books/${"x".repeat(8_193)}`, 414, "uri_too_long", "A path segment is too long"],
  ])("gets a problem if its path is not valid: %.20s", async (url, status, code, detail) => {
    expect(await ask("GET", url)).toMatchObject({ status, body: { status, code, detail } });
  });

  it("may have a segment of 8,192 characters", async () => {
    const id = "x".repeat(8_192);

    expect(await ask("GET", `/books/${id}`)).toMatchObject({ status: 200, body: { id } });
  });

  it("gets the route for GET if its method is HEAD", async () => {
    const app = shop();

    const fixed = await app.inject({ method: "HEAD", url: "/books/new" });
    const other = await app.inject({ method: "HEAD", url: "/books/7" });

    expect([fixed.status, fixed.headers["content-length"], fixed.body.length]).toEqual([200, "24", 0]);
    expect([other.status, other.headers["content-length"], other.body.length]).toEqual([200, "10", 0]);
  });
  it("gets 500 if it cannot be observed, and the next one is served", async () => {
    const clock = manualClock();
    const monotonic = vi.spyOn(clock, "monotonic");
    const app = route(new PorticoApp({ logger: false, openapi: false, clock }))
      .get("/", () => "served")
      .onRequest(() => {});
    await app.inject("/");
    monotonic.mockImplementationOnce(() => {
      throw new Error("no time");
    });

    const [broken, next] = [await app.inject("/"), await app.inject("/")];

    expect([broken.status, next.status]).toEqual([500, 200]);
    expect(JSON.parse(broken.body.toString())).toMatchObject({ code: "internal_server_error" });
  });
});
