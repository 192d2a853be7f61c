import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { connected, get } from "./connected.ts";

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
  it("is rejected if 64 others wait already", async () => {
    const handler = Promise.withResolvers<void>();
    let called = 0;
    const { client } = await connected((app) =>
      app.get("/", async () => {
        called++;
        await handler.promise;
        return "served";
      }),
    );

    client.socket.write(get("/").repeat(67));
    await expect.poll(() => called).toBe(1);
    handler.resolve();
    await expect.poll(() => client.received().match(/HTTP\/1\.1 \d+/g)?.length).toBe(67);

    const { responses } = readResponses(client.received(), []);
    expect(responses.map(({ status }) => status)).toEqual([...Array<number>(65).fill(200), 503, 503]);
    expect(JSON.parse(responses[65]?.body ?? "")).toMatchObject({
      code: "overloaded",
      detail: "Too many requests are waiting on this connection",
    });
    expect(called).toBe(65);
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
