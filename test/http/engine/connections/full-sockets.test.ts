import { field, Graph, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { connected, upgrade } from "./connected.ts";

/** A text frame of a client, masked by zeros. */
const say = (message: object): Buffer => {
  const text = JSON.stringify(message);
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
};

describe("a socket whose client does not read", () => {
  it("produces no more events until the client reads on", async () => {
    let produced = 0;
    const events = subscription(t.string)(async function* () {
      for (;;) yield `${++produced}${"x".repeat(65_536)}`;
    });
    const { client, server } = await connected((app) =>
      new Graph(schema({ query: { hello: field(t.string)(() => "world") }, subscription: { events } })).mount(app),
    );

    client.socket.write(upgrade("/graphql", "Sec-WebSocket-Protocol: graphql-transport-ws"));
    await client.until("\r\n\r\n");
    client.socket.write(say({ type: "connection_init" }));
    await client.until("connection_ack");
    client.socket.pause();
    client.socket.write(say({ type: "subscribe", id: "1", payload: { query: "subscription{events}" } }));
    await expect.poll(() => server.writableNeedDrain).toBe(true);
    const unread = produced;
    client.socket.resume();
    await expect.poll(() => produced).toBeGreaterThan(unread + 100);

    // Only the buffers of the connection are filled meanwhile.
    expect(unread).toBeLessThan(1_000);
    expect(server.destroyed).toBe(false);
  });
});
