import Fastify from "fastify";
import { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

/** An application behind a plugin that rejects every request with this error. */
function rejecting(error: Error): PorticoApp {
  const app = new PorticoApp({ logger: false, openapi: false }).get("/books", () => []);
  app.engine.addHook("onRequest", async () => {
    throw error;
  });
  return app;
}

describe("an error of a plugin", () => {
  it.each([
    [400, "bad_request"],
    [409, "conflict"],
    [499, expect.any(String)],
    [503, "service_unavailable"],
  ])("that blames the client, or the load, is sent as a problem: %d", async (statusCode, code) => {
    const app = rejecting(Object.assign(new Error("not now"), { statusCode }));

    for (const url of ["/books", "/unknown"]) {
      const { status, headers, body } = await app.inject(url);

      expect([status, headers["content-type"]]).toEqual([statusCode, "application/problem+json; charset=utf-8"]);
      expect(JSON.parse(body.toString())).toMatchObject({ status: statusCode, detail: "not now", code });
    }
  });

  it.each([undefined, 399, 500, 502, 504])("that blames neither is a 500 that says nothing: %s", async (statusCode) => {
    const app = rejecting(Object.assign(new Error("s3cret"), { statusCode }));

    for (const url of ["/books", "/unknown"]) {
      const { status, body } = await app.inject(url);

      expect([status, JSON.parse(body.toString())]).toEqual([
        500,
        expect.objectContaining({ code: "internal_server_error", detail: "An unexpected error occurred" }),
      ]);
    }
  });

  it("about the path is sent in the words of the application", async () => {
    const tooLong = await rejecting(Object.assign(new Error("x"), { statusCode: 414 })).inject("/books");
    const malformed = await rejecting(Object.assign(new Error("x"), { code: "FST_ERR_BAD_URL" })).inject("/books");

    expect(JSON.parse(tooLong.body.toString())).toMatchObject({ status: 414, detail: "A path segment is too long" });
    expect(JSON.parse(malformed.body.toString())).toMatchObject({ status: 400, code: "malformed_url" });
  });
});

describe("the routes in another Fastify application", () => {
  async function mounted(): Promise<ReturnType<typeof Fastify>> {
    const app = new PorticoApp({ logger: false, openapi: false })
      .get("/books", () => [])
      .post("/books", { body: z.object({ title: z.string() }) }, ({ body }) => body)
      .get("/own", () => "page")
      .options("/own", ({ response }) => response.header("x-own", "1").empty());
    const fastify = Fastify();
    onTestFinished(() => fastify.close());
    await fastify.register(app.plugin(), { prefix: "/api" });
    return fastify;
  }

  it("say which methods they have, unless they respond to OPTIONS themselves", async () => {
    const fastify = await mounted();

    const books = await fastify.inject({ method: "OPTIONS", url: "/api/books" });
    const own = await fastify.inject({ method: "OPTIONS", url: "/api/own" });

    expect([books.statusCode, books.headers["allow"]]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
    expect([own.statusCode, own.headers["allow"], own.headers["x-own"]]).toEqual([204, undefined, "1"]);
  });

  it("read their bodies themselves, whatever their type", async () => {
    const fastify = await mounted();
    const post = (type: string, payload: string) =>
      fastify.inject({ method: "POST", url: "/api/books", headers: { "content-type": type }, payload });

    expect((await post("application/json", '{"title":"Emma"}')).json()).toEqual({ title: "Emma" });
    expect((await post("application/json", "{")).json()).toMatchObject({ status: 400, code: "body_not_json" });
    expect((await post("application/x-books", "Emma")).json()).toMatchObject({ status: 415 });
  });
});
