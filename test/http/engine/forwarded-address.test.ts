import { PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let client: LiveClient;
beforeAll(async () => {
  const app = new PorticoApp({ logger: false, trustedProxies: ["loopback"] });
  client = await liveClient(app.get("/", ({ request: { ip, url } }) => ({ ip, url })));
});
afterAll(() => client.close());

const seen = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
  (await client.get("/", { headers: { host: "inside.example", ...headers } })).json();

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
  it("are the last ones, which the nearest proxy has added", async () => {
    const headers = { "x-forwarded-host": "evil.example, shop.example", "x-forwarded-proto": "http, https" };

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
