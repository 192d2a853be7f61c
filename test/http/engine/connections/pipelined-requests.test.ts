import { once } from "node:events";
import { setImmediate as nextRound } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { connected, get } from "./connected.ts";

/** Lets the server read what was sent. */
async function rounds(): Promise<void> {
  for (let count = 0; count < 50; count++) await nextRound();
}

describe("a request behind a pending response", () => {
  it("is not served if the client disconnects first", async () => {
    const handler = Promise.withResolvers<string>();
    const called: string[] = [];
    const { client, server } = await connected((app) =>
      app.get("/:name", ({ path }) => {
        called.push(path.name);
        return handler.promise;
      }),
    );

    client.socket.write(get("/first") + get("/second"));
    await expect.poll(() => called).toEqual(["first"]);
    client.socket.destroy();
    await once(server, "close");
    handler.resolve("late");
    await handler.promise;

    expect(called).toEqual(["first"]);
  });
  it("is dropped if 64 others wait already, and the connection is closed after their responses", async () => {
    const handler = Promise.withResolvers<void>();
    let [called, kept] = [0, 0];
    const { client, server } = await connected((app) => {
      app.engine.server.on("request", () => kept++);
      app.get("/", async () => {
        called++;
        await handler.promise;
        return "served";
      });
    });

    client.socket.write(get("/").repeat(900));
    await expect.poll(() => called).toBe(1);
    handler.resolve();
    await once(server, "close");
    await client.closed;

    const { responses, rest } = readResponses(client.received(), []);
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(65).fill(200));
    expect(responses.map(({ headers }) => /\r\nconnection: (\S+)/i.exec(headers)?.[1])).toEqual([
      ...Array<string>(64).fill("keep-alive"),
      "close",
    ]);
    expect(rest).toBeNull();
    expect(called).toBe(65);
    // Node keeps each request that it announces, with its response, until the connection closes.
    expect(kept).toBe(66);
  });

  it.each(["/nothing", "/%ff"])("is dropped if 64 rejections wait already: GET %s", async (path) => {
    const handler = Promise.withResolvers<string>();
    let observed = 0;
    const { client } = await connected((app) =>
      app
        .onRequest(() => {
          observed++;
        })
        .get("/", () => handler.promise),
    );

    client.socket.write(get("/") + get(path).repeat(900));
    await expect.poll(() => observed).toBe(64);
    handler.resolve("served");
    await client.closed;

    const { responses } = readResponses(client.received(), []);
    expect(responses.map(({ status }) => status)).toEqual([
      200,
      ...Array<number>(64).fill(path === "/%ff" ? 400 : 404),
    ]);
    expect(observed).toBe(65);
  });

  it("is not read while 16 others wait", async () => {
    const handler = Promise.withResolvers<void>();
    let called = 0;
    const { client, server } = await connected((app) =>
      app.get("/", async () => {
        called++;
        await handler.promise;
        return "served";
      }),
    );
    // A read of 64 kB has 16 of them at most.
    const large = get("/").replace("\r\n\r\n", `\r\nX-Padding: ${"a".repeat(5_000)}\r\n\r\n`);

    client.socket.write(large.repeat(200));
    await expect.poll(() => called).toBe(1);
    await rounds();
    const read = server.bytesRead;
    handler.resolve();
    await expect.poll(() => client.received().match(/served/g)?.length).toBe(200);

    expect(read).toBeLessThan(40 * large.length);
    expect(server.destroyed).toBe(false);
  });

  it("is served in its turn however many there were before", async () => {
    const { client } = await connected((app) => app.get("/:n", async ({ path }) => `<${path.n}>`));
    const batch = (first: number): string =>
      Array.from({ length: 40 }, (_, index) => get(`/${first + index}`)).join("");

    for (const first of [1, 41, 81]) {
      client.socket.write(batch(first));
      await client.until(`<${first + 39}>`);
    }

    expect(client.received().match(/<\d+>/g)).toEqual(Array.from({ length: 120 }, (_, index) => `<${index + 1}>`));
  });
});
