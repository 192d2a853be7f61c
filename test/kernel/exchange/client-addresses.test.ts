import { PorticoApp, rateLimit } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

/** Whether a client with the second address has the limit of one with the first. */
async function areOneClient(first: string, second: string): Promise<boolean> {
  const app = new PorticoApp({ logger: false, trustedProxies: ["loopback"] })
    .use(rateLimit({ perMinute: 1 }))
    .get("/", ({ request }) => request.ip);
  const send = (address: string) => testClient(app).get("/", { headers: { "x-forwarded-for": address } });

  expect((await send(first)).json()).toBe(first);
  return (await send(second)).status === 429;
}

describe("addresses of one client", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["2001:db8::1", "2001:0db8:0000:0000::2"],
    ["2001:DB8::1", "2001:db8:0:0:8:7:6:5"],
    ["::1", "::2"],
    ["::1:2:3:4:5", "0:0:0:1::"],
    ["1::", "1:0:0:0:5:6:7:8"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4::"],
    ["::ffff:198.151.100.255", "198.151.100.255"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["64:ff9b::ffff:192.0.2.1", "64:ff9b::ffff:192.0.2.2"],
  ])("are those of one IPv6 network, and those that mean one IPv4 address: %s and %s", async (first, second) => {
    expect(await areOneClient(first, second)).toBe(true);
    expect(await areOneClient(second, first)).toBe(true);
  });

  it.each([
    ["192.0.2.1", "192.0.2.2"],
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["2001:db8::1", "2001:db8:0:1::1"],
    ["::1", "1::"],
    ["::ffff:192.0.2.1", "192.0.2.2"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2"],
    ["::ffff:192.0.2.1", "::1"],
  ])("are not %s and %s", async (first, second) => {
    expect(await areOneClient(first, second)).toBe(false);
  });
});
