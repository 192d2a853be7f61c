import { describe, expect, it } from "vitest";
import { readFrames, readResponses } from "../../read-responses.ts";
import { connected, upgrade } from "./connected.ts";

/** A frame of a client, masked by zeros. */
const frame = (payload: string, first = 0x81): Buffer =>
  Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload, "latin1")]);
/** An upgrade and the frames behind it, in one packet. */
const packet = (head: string, ...frames: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from(head), ...frames]);

describe("a socket", () => {
  it("sends texts of every length, and bytes, in one frame", async () => {
    const texts = [0, 1, 125, 126, 127, 65_535, 65_536].map((length) => "x".repeat(length));
    const { client } = await connected((app) =>
      app.socket("/socket", ({ socket }) => {
        for (const text of texts) socket.send(text);
        socket.send("é");
        socket.send(new Uint8Array([1, 2, 3]));
      }),
    );

    client.socket.write(upgrade("/socket"));
    client.socket.once("data", () => client.socket.write(frame("", 0x88)));
    await client.closed;

    const { rest } = readResponses(client.received(), ["GET"]);
    const frames = readFrames(rest ?? "").filter(({ opcode }) => opcode < 8);
    expect(frames).toEqual([
      ...[...texts, Buffer.from("é").toString("latin1")].map((payload) => ({ opcode: 1, payload })),
      { opcode: 2, payload: "\u0001\u0002\u0003" },
    ]);
  });

  it("stays open while the client responds to its pings", async () => {
    const { client } = await connected((app) =>
      app.socket("/socket", { pingSeconds: 0.01 }, async ({ socket }) => {
        for await (const message of socket) socket.send(message);
      }),
    );
    const PING = "\u0089\u0000";
    client.socket.on("data", (chunk) => {
      const pings = chunk.toString("latin1").split(PING).length - 1;
      for (let count = 0; count < pings; count++) client.socket.write(frame("", 0x8a));
    });

    client.socket.write(upgrade("/socket"));

    // A second ping is sent only to a client that has responded to the first.
    await expect.poll(() => client.received().split(PING).length).toBeGreaterThan(2);
    expect(client.socket.closed).toBe(false);
  });

  it("leaves nothing on its connection that belongs to plain responses", async () => {
    const { client, server } = await connected((app) => app.socket("/socket", ({ socket }) => socket.send("open")));

    client.socket.write(upgrade("/socket"));
    await client.until("open");

    expect([server.listenerCount("drain"), server.listenerCount("timeout")]).toEqual([0, 0]);
  });

  it("sends nothing after its close frame", async () => {
    const closing = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const { client } = await connected((app) =>
      app.socket("/socket", async ({ socket }) => {
        await closing.promise;
        socket.send("too late");
        sent.resolve();
      }),
    );
    // The client does not close its half, so the socket is not closed either.
    client.socket.allowHalfOpen = true;

    client.socket.write(packet(upgrade("/socket"), frame("\u0003\u00e8", 0x88)));
    await client.until("\u0088\u0002\u0003\u00e8");
    closing.resolve();
    await sent.promise;
    client.socket.end();
    await client.closed;

    const { rest } = readResponses(client.received(), ["GET"]);
    expect(readFrames(rest ?? "").map(({ opcode }) => opcode)).toEqual([8]);
  });

  it.each([
    ["v1, v2", "v2"],
    ["v1", "v1"],
    ["v3", undefined],
    [undefined, undefined],
  ])("agrees on the subprotocol of %j: %j", async (offered, protocol) => {
    const { client } = await connected((app) =>
      app.socket("/socket", { protocols: ["v2", "v1"] }, ({ socket }) => socket.send(`<${socket.protocol}>`)),
    );

    client.socket.write(upgrade("/socket", ...(offered === undefined ? [] : [`Sec-WebSocket-Protocol: ${offered}`])));
    await client.until(`<${protocol ?? ""}>`);

    const header = /sec-websocket-protocol: (\S+)/i.exec(client.received())?.[1];
    expect([client.received().slice(0, 12), header]).toEqual(["HTTP/1.1 101", protocol]);
  });

  it("has the request of its upgrade for as long as it is open", async () => {
    const { client } = await connected((app) =>
      app.socket("/rooms/:room", async ({ socket, request, path, query }) => {
        for await (const message of socket) {
          const { method, url, ip, headers } = request;
          socket.send(JSON.stringify({ message, path, query, method, url, ip, agent: headers["x-agent"] }));
        }
      }),
    );

    client.socket.write(packet(upgrade("/rooms/blue?q=1", "X-Agent: tester"), frame("hello")));
    await client.until('"tester"}');

    const [said] = readFrames(readResponses(client.received(), ["GET"]).rest ?? "");
    expect(JSON.parse(said?.payload ?? "")).toEqual({
      message: "hello",
      path: { room: "blue" },
      query: { q: "1" },
      method: "GET",
      url: "http://shop.example/rooms/blue?q=1",
      ip: "127.0.0.1",
      agent: "tester",
    });
  });

  it.each(["before", "after"])("has an empty body %s it is accepted", async (when) => {
    const { client } = await connected((app) =>
      app
        .use(async (ctx, next) => {
          if (when === "before") ctx.state.set("body", await ctx.request.text());
          await next();
        })
        .socket("/socket", async ({ socket, ctx }) => {
          const body = when === "before" ? ctx.state.get("body") : await ctx.request.text();
          socket.send(`<${String(body)}>`);
        }),
    );

    client.socket.write(upgrade("/socket"));

    expect(await client.until("<>")).toMatch(/^HTTP\/1\.1 101 /);
  });

  it("receives texts as texts and bytes as bytes", async () => {
    const heard: unknown[] = [];
    const { client } = await connected((app) =>
      app.socket("/socket", async ({ socket }) => {
        for await (const message of socket) heard.push(message);
      }),
    );

    client.socket.write(packet(upgrade("/socket"), frame("text"), frame("", 0x8a), frame("\u0001\u0002", 0x82)));

    await expect.poll(() => heard).toEqual(["text", Buffer.from([1, 2])]);
  });
});
