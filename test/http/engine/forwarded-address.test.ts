import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROUTINGS } from "./routings.ts";

const app = (trustedProxies: readonly string[]): PorticoApp =>
  new PorticoApp({ logger: false, trustedProxies }).get("/", ({ request: { ip, url } }) => ({ ip, url }));

describe.each(ROUTINGS)("for a request that is routed %s", (_, route) => {
  /** What a handler sees of a request that comes from 127.0.0.1. */
  const seen = async (headers: Readonly<Record<string, string>>, trustedProxies = ["loopback"]): Promise<unknown> => {
    const { body } = await route(app(trustedProxies)).inject({
      url: "/",
      headers: { host: "inside.example", ...headers },
    });
    return JSON.parse(body.toString());
  };

  describe("the client address that a trusted proxy forwards", () => {
    it.each([
      ["203.0.113.9", "203.0.113.9"],
      ["203.0.113.9:4711", "203.0.113.9"],
      ["2001:db8::7", "2001:db8::7"],
      ["[2001:db8::7]", "2001:db8::7"],
      ["[2001:db8::7]:4711", "2001:db8::7"],
    ])("may have a port: %s", async (told, ip) => {
      expect(await seen({ "x-forwarded-for": told })).toMatchObject({ ip });
    });

    it.each([
      "unknown",
      "_hidden",
      "999.0.113.9",
      "999.0.113.9:80",
      "203.0.113.9:",
      "203.0.113.9:http",
      "x203.0.113.9:80",
      "203.0.113.9:80x",
      "[2001:db8::7",
      "[2001:db8::7]x",
      "x[2001:db8::7]",
      "[2001:db8::7]:80x",
      "[nothing]",
    ])("is replaced by that of the proxy if it is not a valid address: %s", async (told) => {
      expect(await seen({ "x-forwarded-for": told })).toMatchObject({ ip: "127.0.0.1" });
    });
  });

  describe("the host and protocol that a trusted proxy forwards", () => {
    it.each([
      ["shop.example", "https"],
      ["evil.example, shop.example", "http, https"],
      ["evil.example,other.example,shop.example", "http,http,https"],
    ])("are the last ones, which the nearest proxy has added: %s", async (host, protocol) => {
      const headers = { "x-forwarded-host": host, "x-forwarded-proto": protocol };

      expect(await seen(headers)).toMatchObject({ url: "https://shop.example/" });
    });

    it.each([{}, { "x-forwarded-host": "", "x-forwarded-proto": "" }])(
      "are those of the request itself if they are missing: %j",
      async (headers) => {
        expect(await seen(headers)).toMatchObject({ url: "http://inside.example/" });
      },
    );

    it("are not taken over if the host is not valid", async () => {
      expect(await seen({ "x-forwarded-host": "evil/x?" })).toMatchObject({ url: "http://inside.example/" });
    });
  });

  it("neither is believed if the connection does not come from a trusted proxy", async () => {
    const headers = {
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    const direct = { ip: "127.0.0.1", url: "http://inside.example/" };

    expect(await seen(headers, [])).toEqual(direct);
    expect(await seen(headers, ["203.0.113.1"])).toEqual(direct);
  });

  it("the address is the one before the last trusted proxy", async () => {
    const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.9, 203.0.113.1" };

    expect(await seen(headers, ["loopback", "203.0.113.1"])).toMatchObject({ ip: "203.0.113.9" });
    expect(await seen(headers)).toMatchObject({ ip: "203.0.113.1" });
  });

  it("the address, the host and the protocol are read from the connection in another server", async () => {
    const directory = await mkdtemp(join(tmpdir(), "portico-"));
    const socketPath = join(directory, "socket");
    const shop = route(app([]));
    const server = createServer(shop.handler)
      // As a TLS server marks its connections.
      .on("connection", (socket: Socket) => Object.assign(socket, { encrypted: true }))
      .listen(socketPath);
    await once(server, "listening");
    onTestFinished(async () => {
      server.close();
      await shop.close();
      await rm(directory, { recursive: true });
    });

    const sent = request({ socketPath, headers: { host: "shop.example" } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];

    expect(JSON.parse(Buffer.concat(await response.toArray()).toString())).toEqual({
      ip: "",
      url: "https://shop.example/",
    });
  });
});
