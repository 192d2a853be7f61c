import { PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../raw-connection.ts";

async function open(): Promise<LiveClient> {
  const app = new PorticoApp({ logger: false }).get("/where", ({ request }) => ({ url: request.url }));
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return client;
}
const ask = async (client: LiveClient, ...hosts: readonly string[]): Promise<string> => {
  const connection = await rawConnection(client.port);
  const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
  connection.socket.write(`GET /where HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
  await connection.closed;
  return connection.received();
};

it.each(["shop/x?", "shop#", "a b", "shop@evil.example", "shop:99:1", "shop\\evil", "[::1", "ev\u0131l"])(
  "rejects an invalid Host with 400: %s",
  async (host) => {
    const answer = await ask(await open(), host);

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"detail":"The Host header is not a valid host name"');
  },
);

it("rejects two Host headers with 400", async () => {
  const answer = await ask(await open(), "shop.example", "evil.example");

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"detail":"The request has more than one Host header"');
});

it("does not mistake a header with a name of the same length for a second Host", async () => {
  const connection = await rawConnection((await open()).port);
  connection.socket.write("GET /where HTTP/1.1\r\nHost: shop.example\r\nDate: today\r\nConnection: close\r\n\r\n");
  await connection.closed;

  expect(connection.received()).toMatch(/^HTTP\/1\.1 200 /);
});

it.each(["shop.example", "shop.example:8080", "127.0.0.1", "[::1]:3000", "under_score.example"])(
  "takes one that is one: %s",
  async (host) => {
    expect(await ask(await open(), host)).toContain(`"url":"http://${host}/where"`);
  },
);

it.each([
  ["HTTP/1.1", [""]],
  ["HTTP/1.0", []],
])("is not required to have a value: %s", async (version, hosts) => {
  const connection = await rawConnection((await open()).port);
  const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
  connection.socket.write(`GET /where ${version}\r\n${lines}Connection: close\r\n\r\n`);
  await connection.closed;

  expect(connection.received()).toContain('"url":"http://localhost/where"');
});
