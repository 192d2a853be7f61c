import { PorticoApp } from "portico";
import { type SocketRefused, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { startApp } from "../start-app.ts";

describe("a socket of a browser", () => {
  it.each([
    ["none", "open"],
    ["same-origin", "open"],
    ["same-site", 403],
    ["cross-site", 403],
  ])("with Sec-Fetch-Site: %s is %s", async (site, expected) => {
    const { socket: open } = await startApp((app) => app.socket("/ws", () => {}));
    const opened = open("/ws", { headers: { "sec-fetch-site": site } }).then(
      () => "open",
      (error: SocketRefused) => error.response.status,
    );

    expect(await opened).toBe(expected);
  });
});

describe("a page of a listed origin", () => {
  it("may read these headers of a response", async () => {
    const app = new PorticoApp({ logger: false, origins: ["https://shop.example"] }).get("/", () => "done");
    const { headers } = await testClient(app).get("/", { headers: { origin: "https://shop.example" } });

    expect(headers["access-control-expose-headers"]).toBe("link, location, ratelimit, ratelimit-policy, retry-after");
  });
});

describe("a preflight", () => {
  it("allows exactly the headers that it asks for", async () => {
    const app = new PorticoApp({ logger: false, origins: ["https://shop.example"] }).post("/", () => {});
    const ask = async (headers: Record<string, string>): Promise<unknown> =>
      (
        await testClient(app).request("OPTIONS", "/", {
          headers: { origin: "https://shop.example", "access-control-request-method": "POST", ...headers },
        })
      ).headers;

    expect(await ask({ "access-control-request-headers": "x-shelf" })).toMatchObject({
      "access-control-allow-headers": "x-shelf",
      "access-control-allow-methods": "POST",
      "access-control-max-age": "600",
    });
    const without = await ask({});
    expect(without).toHaveProperty("access-control-allow-methods", "POST");
    expect(without).not.toHaveProperty("access-control-allow-headers");
  });
});
