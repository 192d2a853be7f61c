import Fastify from "fastify";
import { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../raw-connection.ts";
import { hosted } from "./hosted.ts";

describe("a request to a server around the application", () => {
  it.each([
    ["/books?a=1", "http://shop.example/books?a=1"],
    ["http://other.example/books", "http://shop.example/books"],
    ["HTTPS://other.example?a=1", "http://shop.example/?a=1"],
    ["http://other.example", "http://shop.example/"],
    ["http://other.example/", "http://shop.example/"],
  ])("has the URL of its own host: %s", async (target, url) => {
    const port = await hosted(
      () => {},
      (response, ctx) => response.end(`<${ctx.request.url}>`),
    );
    const connection = await rawConnection(port);

    connection.socket.write(`GET ${target} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`);
    await connection.closed;

    expect(/<.*>/.exec(connection.received())?.[0]).toBe(`<${url}>`);
  });

  it("has a body that the application may read, also while it arrives", async () => {
    let isReading = false;
    const port = await hosted(
      async (ctx) => {
        isReading = true;
        ctx.state.set("body", await ctx.request.text());
      },
      (response, ctx) => response.end(`<${String(ctx.state.get("body"))}>`),
    );
    const connection = await rawConnection(port);

    connection.socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nConnection: close\r\n\r\npie");
    await expect.poll(() => isReading).toBe(true);
    connection.socket.write("ces");
    await connection.closed;

    expect(connection.received()).toContain("<pieces>");
  });

  it("has the sender that Fastify believes", async () => {
    const app = new PorticoApp({ logger: false });
    const fastify = Fastify({ trustProxy: true });
    await fastify.register(app.plugin(), { prefix: "/api" });
    fastify.get("/who", async (request, reply) => {
      const { ip, url } = (await app.identify(request, reply)).request;
      return { ip, url };
    });
    onTestFinished(() => fastify.close());
    const ask = async (headers: Record<string, string>): Promise<unknown> =>
      (await fastify.inject({ url: "/who", headers: { host: "inside.example", ...headers } })).json();

    const forwarded = {
      "x-forwarded-for": "203.0.113.9:80",
      "x-forwarded-host": "shop.example",
      "x-forwarded-proto": "https",
    };

    expect(await ask(forwarded)).toEqual({ ip: "203.0.113.9", url: "https://shop.example/who" });
    expect(await ask({ "x-forwarded-for": "unknown", "x-forwarded-host": "a/b" })).toEqual({
      ip: "127.0.0.1",
      url: "http://inside.example/who",
    });
  });
});
